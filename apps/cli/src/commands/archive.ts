import { openTranscript } from '@recall/agents'
import { isMemoryError, MemoryError } from '@recall/core'
import { type ArchiveResult, createArchiver } from '../archiving/archiver.ts'
import { formatsIn, withoutFormats } from '../archiving/known-formats.ts'
import { listTranscripts } from '../archiving/list-transcripts.ts'
import { exitCodes } from '../exit-codes.ts'
import { givenUpSessions, settleGivenUp } from '../hosts/given-up-sessions.ts'
import { findRoot, type RootOptions } from '../memory/find-root.ts'
import { languageModel } from '../memory/language-model.ts'
import { holdsMemory } from '../memory/require-memory.ts'
import { withMemory } from '../memory/with-memory.ts'
import { count, formatCounts, formatSkipped } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'

/** Archives the sessions in files and folders, including those of the helpers that they started. */
export async function archive(
  io: Io,
  paths: string[],
  options: RootOptions & { json?: boolean },
  source: 'session' | 'checkpoint',
): Promise<number> {
  const { transcripts, unreadable } = await listTranscripts(io, paths)
  const [only] = transcripts
  // A file that was named by mistake must not create a memory.
  if (only !== undefined && transcripts.length + unreadable.length === 1 && isNew(io, options))
    await openTranscript(only)
  return withMemory(io, { ...options, create: true }, async (memory, store) => {
    const archiver = await createArchiver(memory, store, source, { lm: languageModel(io) })
    const report = createReport(io, options.json ?? false)
    const givenUp = source === 'session' ? givenUpSessions(store) : []
    const done: ArchiveResult[] = []
    for (const error of unreadable) report.failed(String(error.details?.path), error)
    for (const path of transcripts) {
      try {
        const result = await archiver(path)
        report.archived(result)
        done.push(result)
      } catch (error) {
        // One bad file must not stop the others.
        if (!isMemoryError(error)) throw error
        const named = namingFile(error, path)
        if (transcripts.length + unreadable.length === 1) throw named
        report.failed(path, named)
      }
    }
    const code = report.end()
    // The failure may belong to one of their helpers.
    if (code === exitCodes.fine) settleGivenUp(store, givenUp, done)
    return code
  })
}

/** An error that says which transcript it is about. */
const namingFile = (error: MemoryError, path: string): MemoryError =>
  error.message.includes(path)
    ? error
    : new MemoryError(`${path}: ${error.message}`, error.code, { ...error, cause: error })

const isNew = (io: Io, options: RootOptions): boolean => !holdsMemory(findRoot(io, options), options)

/** Reports the result of each file to a person at once, and to a program in one document at the end. */
function createReport(io: Io, isJson: boolean) {
  const archived: ArchiveResult[] = []
  const failed: { path: string; reason: string }[] = []
  let formats: readonly string[] | undefined
  return {
    archived(result: ArchiveResult): void {
      archived.push(result)
      if (!isJson) io.out(describe(result))
    },
    failed(path: string, error: MemoryError): void {
      failed.push({ path, reason: error.message })
      formats ??= formatsIn(error)
      if (!isJson) io.err(`recall: not archived: ${printable(withoutFormats(error, path))}\n`)
    },
    /** @returns the exit code */
    end(): number {
      if (formats && !isJson) io.err(`recall: it understands: ${formats.join('; ')}\n`)
      if (isJson) io.out(`${JSON.stringify({ archived, ...(failed.length > 0 ? { failed } : {}) })}\n`)
      return failed.length > 0 ? exitCodes.failed : exitCodes.fine
    },
  }
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
  window,
}: ArchiveResult): string {
  const what = {
    archived: `archived ${count(messageCount, 'message')}`,
    updated: `brought up to date, ${count(messageCount, 'message')}`,
    unchanged: `nothing new since the last time${window === 'added' ? '; added to the window' : ''}`,
    empty: 'nothing in it to archive',
  }[status]
  const lines = [path, `  ${what}${title ? ` · ${title}` : ''}`]
  if (status === 'archived' || status === 'updated')
    lines.push(`  as ${namesOf(parts)} · summary by ${summarizedBy}`)
  if (Object.keys(redactions).length > 0) {
    lines.push(
      `  secrets replaced: ${formatCounts(redactions)}. They were in the transcript, so consider them known: replace them at their source`,
    )
  }
  if (Object.keys(skipped).length > 0) lines.push(`  passed over: ${formatSkipped(skipped)}`)
  if (kept.length > 0)
    lines.push(`  kept an earlier version with messages this one lacks: ${kept.join(', ')}`)
  return printable(`${lines.join('\n')}\n`)
}

const mostNamed = 3

/** The keys of an archive. A long session has dozens, which differ only in their number. */
function namesOf(parts: ArchiveResult['parts']): string {
  const keys = parts.map(({ key }) => key)
  return keys.length > mostNamed ? `${keys[0]}, in ${keys.length} parts` : keys.join(', ')
}
