import { MemoryError, MemoryErrorCode } from '@recall/core'
import { asMemoryErrors, liftTimeLimit, memories, prepared, systemConfig } from '@recall/store-postgres'
import { type SQL, sql } from 'drizzle-orm'
import type { HubParts } from '../hub.ts'

/**
 * The model of the memories' vectors. `reembed` replaces it while hubs with the old model still run, so the statement
 * that compares or writes vectors must read it itself: an earlier read could be out of date.
 */
export const currentModel: SQL = sql`(select embedding_model from system_config)`

/**
 * A hub with another model than the stored vectors would silently find nothing, so it must not start.
 *
 * @throws MemoryError CONFLICT when the database holds vectors of another model than the embedder's
 */
export async function refuseOtherModels({ database, embedder }: HubParts): Promise<void> {
  // No timeout: if no model or another one is recorded, the memories are looked through while nobody writes.
  const other = await asMemoryErrors(MemoryErrorCode.UNAVAILABLE, () =>
    database.transaction(async (transaction) => {
      const [known] = await transaction.select({ model: systemConfig.embeddingModel }).from(systemConfig)
      if (known?.model === embedder.model) return undefined
      await liftTimeLimit(transaction)
      // Between this check and the update, a hub with another model must not write the first memory.
      await transaction.execute(sql`lock table memories in share row exclusive mode`)
      const [row] = await transaction
        .select({ model: memories.embeddingModel })
        .from(memories)
        .where(sql`${memories.embedding} is not null and ${memories.embeddingModel} <> ${embedder.model}`)
        .limit(1)
      if (!row) await transaction.update(systemConfig).set({ embeddingModel: embedder.model })
      return row?.model
    }),
  )
  if (other === undefined) return
  throw new MemoryError(
    `the memories of this hub were embedded with ${other}, but it is configured for ${embedder.model}: re-embed them first`,
    MemoryErrorCode.CONFLICT,
  )
}

/**
 * While no memory has a vector yet, the model is that of the serving hub: a command with other settings would make it
 * refuse all searches and writes.
 *
 * @throws MemoryError CONFLICT when the memories have another model than the embedder's
 */
export async function refuseToReplaceModel({
  database,
  embedder,
}: Pick<HubParts, 'database' | 'embedder'>): Promise<void> {
  const [known] = await asMemoryErrors(MemoryErrorCode.UNAVAILABLE, () => selectModel(database))
  if (!known?.model || known.model === embedder.model) return
  throw new MemoryError(
    `the model of this hub is ${known.model}, but this command is configured for ${embedder.model}: give it the settings of the hub`,
    MemoryErrorCode.CONFLICT,
  )
}

/** Whether this hub's model is still that of the memories. Throws when the database does not answer. */
export async function hasCurrentModel({
  database,
  embedder,
  call,
}: Pick<HubParts, 'database' | 'embedder' | 'call'>): Promise<boolean> {
  const [row] = await call(() => selectModel(database))
  return row?.model === embedder.model
}

const selectModel = prepared<{ model: string | null }>(sql`select ${currentModel} as model`)

/** The error for a search or a write in a hub whose model is no longer that of the memories. */
export const modelWasReplaced = (): MemoryError =>
  new MemoryError(
    'the memories of this hub were moved to another embedding model: restart this process of the hub with that model; nothing was written',
    MemoryErrorCode.UNAVAILABLE,
    { retryAfterMs: 5000 },
  )
