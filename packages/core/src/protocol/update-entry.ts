import { isMemoryError, MemoryError, MemoryErrorCode } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import type { MemoryManager, WriteOptions } from '../memory-manager.ts'
import type { MemoryScope } from '../scope.ts'

/** Turns to update an entry that others keep writing. */
const attempts = 20

/**
 * Reads, changes and writes an entry so that no update of another process is lost: when somebody wrote it in
 * between, it is read and changed anew. Its ttl, encryption, tags and type stay unless `change` says otherwise. What
 * it is found by is not read back: an entry that was written with `text` or `index: false` needs them again.
 *
 * @throws MemoryError CONFLICT when others win twenty times in a row
 */
export async function updateEntry<T>(
  memory: MemoryManager,
  scope: MemoryScope,
  key: string,
  change: (known: T | null) => { value: T } & WriteOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const known = await memory.read<T>(scope, key, { includeMetadata: true })
    const { value, ...options } = change(known?.value ?? null)
    try {
      if (known) {
        const { updatedAt, expiresAt, accessedAt, encrypted, tags, type } = known.metadata
        const all = {
          // An access moves the end to a ttl later: their distance is the ttl.
          ttl: expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt - accessedAt,
          tags,
          ...(type === null || type === ownType(known.value) ? {} : { type }),
          ...(encrypted ? { encrypt: true } : {}),
          ...options,
        }
        await memory.atomicUpdate(scope, [
          { operation: 'set', key, value, options: all, ifUpdatedAt: updatedAt },
        ])
      } else await memory.write(scope, key, value, { ...options, overwrite: false })
      return value
    } catch (error) {
      if (!isMemoryError(error, MemoryErrorCode.CONFLICT)) throw error
      if (attempt < attempts) continue
      const message = `'${key}' is written by others all the time: try again`
      throw new MemoryError(message, MemoryErrorCode.CONFLICT, { scope, key, cause: error })
    }
  }
}

/** What the value says itself is for the next value to say. */
const ownType = (value: unknown): unknown => (isJsonObject(value) ? value.type : undefined)
