import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { listClaudeCodeTranscripts, openTranscript } from '@recall/agents'
import {
  conversationKey,
  isMemoryError,
  MemoryError,
  MemoryErrorCode,
  type MemoryManager,
} from '@recall/core'
import { type ArchiveOutcome, archiveSession, createCheckpoint } from '@recall/sessions'
import { defaultFileSystem, type FileStore, readConfig, readTombstones } from '@recall/store-file'
import { exitCodes } from '../exit-codes.ts'
import type { RootOptions } from '../find-root.ts'
import { count, formatCounts } from '../format.ts'
import type { Io } from '../io.ts'
import { languageModel, withMemory } from '../memory.ts'

export type ArchiveResult = ArchiveOutcome & { path: string; title?: string; skipped: Record<string, number> }

/** Archives the sessions in some files or folders, with the helpers that they started. */
export async function archive(
  io: Io,
  paths: string[],
  options: RootOptions & { json?: boolean },
  source: 'session' | 'checkpoint',
): Promise<number> {
  const transcripts = await listTranscripts(io, paths)
  return withMemory(io, { ...options, create: true }, async (memory, store) => {
    const archiver = await createArchiver(io, memory, store, source)
    const results: ArchiveResult[] = []
    for (const path of transcripts) {
      const result = await archiver(path)
      results.push(result)
      if (!options.json) io.out(describe(result))
    }
    if (options.json) io.out(`${JSON.stringify({ archived: results })}\n`)
    return exitCodes.fine
  })
}

/** The transcripts that some paths stand for, sessions before their helpers, none twice. */
export async function listTranscripts(io: Io, paths: string[]): Promise<string[]> {
  const found = new Set<string>()
  for (const path of paths) {
    const full = resolve(io.cwd, path)
    if (/\.db#./.test(full)) found.add(full)
    else for (const transcript of await listClaudeCodeTranscripts(full)) found.add(transcript)
  }
  if (found.size === 0) {
    throw new MemoryError(`no transcripts below ${paths.join(', ')}`, MemoryErrorCode.NOT_FOUND)
  }
  return [...found]
}

/** Archives one transcript, unless a person had that session forgotten. */
export async function createArchiver(
  io: Io,
  memory: MemoryManager,
  store: FileStore,
  source: 'session' | 'checkpoint',
): Promise<(path: string) => Promise<ArchiveResult>> {
  const { config } = readConfig(defaultFileSystem, store.root, store.layout)
  const isForgotten = readTombstones(defaultFileSystem, store)
  const lm = languageModel(io)
  const save = source === 'session' ? archiveSession : createCheckpoint
  return async (path) => {
    const conversation = await openTranscript(path)
    const address = {
      scope: 'episodic',
      namespace: memory.namespace,
      key: conversationKey(conversation.sessionId),
    } as const
    if (isForgotten(address)) {
      throw new MemoryError(
        `${path} is session ${conversation.sessionId}, which was forgotten: it is not archived again`,
        MemoryErrorCode.CONFLICT,
        { details: { forgotten: true } },
      )
    }
    // Behind the mark stands which session of a database it is.
    const changed = (await stat(path.split('#')[0] as string)).mtimeMs
    const outcome = await save(memory, conversation, {
      maxEntries: config.ephemeral.maxEntries,
      // A transcript without times is dated by its file.
      clock: () => Math.round(changed),
      ...(lm ? { lm } : {}),
    })
    const { title, skipped } = conversation.facts
    return { ...outcome, path, skipped, ...(title ? { title } : {}) }
  }
}

export const isForgottenSession = (error: unknown): boolean => isMemoryError(error, MemoryErrorCode.CONFLICT)

function describe({
  path,
  status,
  parts,
  messageCount,
  redactions,
  skipped,
  kept,
  title,
  summarizedBy,
}: ArchiveResult): string {
  const what = {
    archived: `archived ${count(messageCount, 'message')}`,
    updated: `brought up to date, ${count(messageCount, 'message')}`,
    unchanged: 'nothing new since the last time',
    empty: 'nothing in it to archive',
  }[status]
  const lines = [`${path}`, `  ${what}${title ? ` · ${title}` : ''}`]
  if (status === 'archived' || status === 'updated')
    lines.push(`  as ${parts.map(({ key }) => key).join(', ')} · summary by ${summarizedBy}`)
  if (Object.keys(redactions).length > 0) {
    lines.push(
      `  secrets replaced: ${formatCounts(redactions)}. They were in the transcript, so consider them known: replace them at their source`,
    )
  }
  if (Object.keys(skipped).length > 0) lines.push(`  passed over: ${formatCounts(skipped)}`)
  if (kept.length > 0)
    lines.push(`  kept an earlier version with messages this one lacks: ${kept.join(', ')}`)
  return `${lines.join('\n')}\n`
}
