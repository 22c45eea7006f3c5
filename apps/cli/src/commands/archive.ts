import { readFile, stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { listClaudeCodeTranscripts, listImportable, openTranscript, splitAddress } from '@recall/agents'
import {
  type Conversation,
  conversationKey,
  isMemoryError,
  type LmProvider,
  MemoryError,
  MemoryErrorCode,
  type MemoryManager,
  redactText,
  sessionSummaryKey,
} from '@recall/core'
import { type ArchiveOutcome, archiveSession, createCheckpoint } from '@recall/sessions'
import { defaultFileSystem, type FileStore, readConfig } from '@recall/store-file'
import { exitCodes } from '../exit-codes.ts'
import { findSessionId } from '../imports/find-session-id.ts'
import { type ImportJournal, openJournal } from '../imports/import-journal.ts'
import { renewMessageIds } from '../imports/renew-message-ids.ts'
import type { RootOptions } from '../memory/find-root.ts'
import { readForgotten } from '../memory/forgotten.ts'
import { languageModel, withMemory } from '../memory/memory.ts'
import { count, formatCounts, formatSkipped } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'

export type ArchiveResult = ArchiveOutcome & { path: string; title?: string; skipped: Record<string, number> }

/** Archives the sessions in files and folders, including those of the helpers that they started. */
export async function archive(
  io: Io,
  paths: string[],
  options: RootOptions & { json?: boolean },
  source: 'session' | 'checkpoint',
): Promise<number> {
  const { transcripts, unreadable } = await listTranscripts(io, paths)
  return withMemory(io, { ...options, create: true }, async (memory, store) => {
    const archiver = await createArchiver(memory, store, source, { lm: languageModel(io) })
    const archived: ArchiveResult[] = []
    const failed: { path: string; reason: string }[] = []
    let formats: readonly string[] | undefined
    const fail = (path: string, error: MemoryError): void => {
      failed.push({ path, reason: error.message })
      formats ??= formatsIn(error)
      if (!options.json) io.err(`recall: not archived: ${printable(withoutFormats(error, path))}\n`)
    }
    for (const error of unreadable) fail(String(error.details?.path), error)
    for (const path of transcripts) {
      try {
        const result = await archiver(path)
        archived.push(result)
        if (!options.json) io.out(describe(result))
      } catch (error) {
        // One bad file must not stop the others.
        if (!isMemoryError(error) || transcripts.length + unreadable.length === 1) throw error
        fail(path, error)
      }
    }
    if (formats && !options.json) io.err(`recall: it understands: ${formats.join('; ')}\n`)
    if (options.json) io.out(`${JSON.stringify({ archived, ...(failed.length > 0 ? { failed } : {}) })}\n`)
    return failed.length > 0 ? exitCodes.failed : exitCodes.fine
  })
}

/** The formats that a file of none of them could have had. */
export const formatsIn = ({ details }: MemoryError): string[] | undefined =>
  Array.isArray(details?.formats) ? details.formats : undefined

/** Why a file cannot be read, without the formats: of many files they are said once. */
export const withoutFormats = (error: MemoryError, path: string): string =>
  formatsIn(error) ? `${path} is no transcript that Recall can read` : error.message

/**
 * The transcripts below some paths, each once, sessions before their helpers, and the paths that cannot be read.
 *
 * @throws MemoryError when there is no transcript
 */
export async function listTranscripts(
  io: Io,
  paths: string[],
): Promise<{ transcripts: string[]; unreadable: MemoryError[] }> {
  const found = new Set<string>()
  const unreadable: MemoryError[] = []
  for (const path of paths) {
    try {
      for (const transcript of await listTranscriptsOf(resolve(io.cwd, path))) found.add(transcript)
    } catch (error) {
      if (!isMemoryError(error)) throw error
      unreadable.push(error)
    }
  }
  if (found.size === 0) {
    throwAll(unreadable)
    throw new MemoryError(`no transcripts below ${paths.join(', ')}`, MemoryErrorCode.NOT_FOUND)
  }
  return { transcripts: [...found], unreadable }
}

/** Where nothing can be read: fails as for one path alone, and names each. */
export function throwAll(errors: readonly MemoryError[]): void {
  const [first] = errors
  if (first)
    throw new MemoryError(errors.map(({ message }) => message).join('; '), first.code, { cause: first })
}

/** For a folder, everything that may be a transcript; for the file of a session, that file and those of its helpers. */
export async function listTranscriptsOf(path: string): Promise<string[]> {
  if (splitAddress(path)) return [path]
  const isFolder = await stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
  if (!isFolder) return listClaudeCodeTranscripts(path)
  const found: string[] = []
  for (const file of await listImportable(path))
    if (file.endsWith('.jsonl') || (await isTranscript(file))) found.push(file)
  return found
}

/** Most markdown and JSON files in a folder are no transcripts. */
const isTranscript = (path: string): Promise<boolean> =>
  openTranscript(path).then(
    () => true,
    (error) => !isMemoryError(error, MemoryErrorCode.INVALID_INPUT),
  )

/**
 * Creates a function that archives one transcript. A session that a person had forgotten is refused; one of which only
 * the entry in the window was forgotten does not enter it again.
 *
 * @param options.journal one that the caller saves; without it each change is saved at once
 */
export async function createArchiver(
  memory: MemoryManager,
  store: FileStore,
  source: 'session' | 'checkpoint',
  options: { lm: LmProvider | undefined; resummarize?: boolean; journal?: ImportJournal },
): Promise<(path: string) => Promise<ArchiveResult>> {
  const { lm, resummarize = false, journal = openJournal(store) } = options
  const { config } = readConfig(defaultFileSystem, store.root, store.layout)
  const isForgotten = readForgotten(store)
  return async (path) => {
    const conversation = await openSession(path)
    if (conversation.isNamedByFile) {
      const file = { path, name: conversation.sessionId }
      conversation.sessionId = await findSessionId(memory, journal, file)
      if (!options.journal) journal.save()
    }
    const archiveOf = (sessionId: string) =>
      ({
        namespace: memory.namespace,
        scope: 'episodic',
        key: conversationKey(sessionId),
        value: { sessionId },
      }) as const
    const address = archiveOf(conversation.sessionId)
    const session = archiveOf(conversation.parent ?? conversation.sessionId)
    if (isForgotten(address) || isForgotten(session)) {
      throw new MemoryError(
        `${path} is session ${conversation.sessionId}, which was forgotten: it is not archived again`,
        MemoryErrorCode.CONFLICT,
        { details: { forgotten: true } },
      )
    }
    const inWindow = {
      ...address,
      scope: 'short-term',
      key: sessionSummaryKey(conversation.sessionId),
    } as const
    const save = source === 'session' ? archiveSession : createCheckpoint
    await renewMessageIds(memory, conversation.sessionId, () => openSession(path))
    // The address of a session in a database is the path of the file, a mark and the session's id.
    const changed = (await stat(splitAddress(path)?.file ?? path)).mtimeMs
    const outcome = await save(memory, conversation, {
      maxEntries: config.ephemeral.maxEntries,
      inWindow: !isForgotten(inWindow),
      undated: Math.round(changed),
      resummarize,
      ...(lm ? { lm } : {}),
    })
    const { title, skipped } = conversation.facts
    return { ...outcome, path, skipped, ...(title ? { title: redactText(title).text } : {}) }
  }
}

/** Opens a transcript; one that a host has only created is that of a session in which nothing was said. */
async function openSession(path: string): Promise<Conversation> {
  try {
    return await openTranscript(path)
  } catch (error) {
    if (!isMemoryError(error, MemoryErrorCode.INVALID_INPUT) || !(await isBlank(path))) throw error
    return { sessionId: basename(path, '.jsonl'), messages: [], facts: { skipped: {} } }
  }
}

const longestBlank = 4096

async function isBlank(path: string): Promise<boolean> {
  if (!path.endsWith('.jsonl') || (await stat(path)).size > longestBlank) return false
  return (await readFile(path, 'utf8')).trim() === ''
}

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
  const lines = [printable(path), `  ${what}${title ? ` · ${printable(title)}` : ''}`]
  if (status === 'archived' || status === 'updated')
    lines.push(`  as ${parts.map(({ key }) => key).join(', ')} · summary by ${summarizedBy}`)
  if (Object.keys(redactions).length > 0) {
    lines.push(
      `  secrets replaced: ${formatCounts(redactions)}. They were in the transcript, so consider them known: replace them at their source`,
    )
  }
  if (Object.keys(skipped).length > 0) lines.push(`  passed over: ${formatSkipped(skipped)}`)
  if (kept.length > 0)
    lines.push(`  kept an earlier version with messages this one lacks: ${kept.join(', ')}`)
  return `${lines.join('\n')}\n`
}
