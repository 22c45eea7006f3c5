import { createHash } from 'node:crypto'
import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isMemoryError } from '@recall/core'
import { type FileStore, writeInternal } from '@recall/store-file'
import { exitCodes, UsageError } from '../exit-codes.ts'
import type { RootOptions } from '../find-root.ts'
import { count, formatCounts } from '../format.ts'
import type { Io } from '../io.ts'
import { withMemory } from '../memory.ts'
import { progressBar } from '../progress.ts'
import { createArchiver, listTranscripts } from './archive.ts'

interface ImportReport {
  archived: number
  updated: number
  unchanged: number
  empty: number
  /** Sessions that a person had forgotten; they stay forgotten. */
  forgotten: number
  failed: { path: string; reason: string }[]
  messages: number
  redactions: Record<string, number>
}

/** Archives many sessions. Files that have not changed since the last time are passed over unread. */
export async function importSessions(
  io: Io,
  sources: string[],
  options: RootOptions & { json?: boolean; dryRun?: boolean; since?: string },
): Promise<number> {
  const since = options.since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(options.since)
  if (Number.isNaN(since)) throw new UsageError(`'${options.since}' is not a date such as 2026-03-01`)
  const transcripts = await listTranscripts(io, sources)
  return withMemory(io, { ...options, create: true }, async (memory, store) => {
    const journal = await openJournal(store)
    const todo: { path: string; stamp: string }[] = []
    const report: ImportReport = {
      archived: 0,
      updated: 0,
      unchanged: 0,
      empty: 0,
      forgotten: 0,
      failed: [],
      messages: 0,
      redactions: {},
    }
    for (const path of transcripts) {
      const { size, mtimeMs } = await lstat(path)
      const stamp = `${size}-${mtimeMs}`
      if (mtimeMs < since) continue
      if (journal.has(path, stamp)) report.unchanged++
      else todo.push({ path, stamp })
    }
    if (options.dryRun) {
      const paths = todo.map(({ path }) => path)
      io.out(
        options.json
          ? `${JSON.stringify({ wouldRead: paths, unchanged: report.unchanged })}\n`
          : `${paths.map((path) => `${path}\n`).join('')}${count(paths.length, 'transcript')} would be read, ${report.unchanged} unchanged\n`,
      )
      return exitCodes.fine
    }
    const archiver = await createArchiver(io, memory, store, 'session')
    const bar = await progressBar(io, 'importing')
    for (const [i, { path, stamp }] of todo.entries()) {
      bar.update({ done: i, total: todo.length })
      try {
        const { status, messageCount, redactions } = await archiver(path)
        report[status]++
        if (status === 'archived' || status === 'updated') report.messages += messageCount
        for (const [kind, n] of Object.entries(redactions))
          report.redactions[kind] = (report.redactions[kind] ?? 0) + n
        journal.add(path, stamp)
      } catch (error) {
        // One bad transcript must not keep the others out.
        if (!isMemoryError(error)) throw error
        if (error.details?.forgotten) report.forgotten++
        else report.failed.push({ path, reason: error.message })
      }
      // Kept along the way, so that an interrupted import goes on where it stopped.
      if (i % 50 === 49) journal.save()
    }
    journal.save()
    bar.stop()
    io.out(options.json ? `${JSON.stringify(report)}\n` : describe(report))
    return report.failed.length > 0 ? exitCodes.failed : exitCodes.fine
  })
}

function describe(report: ImportReport): string {
  const lines = [
    `${report.archived} archived, ${report.updated} brought up to date, ${report.unchanged} unchanged, ${report.empty} empty (${count(report.messages, 'message')})`,
    ...(Object.keys(report.redactions).length > 0
      ? [`secrets replaced: ${formatCounts(report.redactions)}`]
      : []),
    ...(report.forgotten > 0 ? [`${report.forgotten} left out, because they were forgotten`] : []),
    ...report.failed.map(({ path, reason }) => `not imported: ${path}: ${reason}`),
  ]
  return `${lines.join('\n')}\n`
}

/** Which files were imported in which state; paths are kept as hashes. Losing it only costs time. */
async function openJournal(store: FileStore) {
  const path = join(store.root, store.layout.internal, 'imports.json')
  const known = new Map<string, string>(Object.entries(await readJournal(path)))
  const name = (source: string): string => createHash('sha256').update(source).digest('hex').slice(0, 24)
  return {
    has: (source: string, stamp: string): boolean => known.get(name(source)) === stamp,
    add: (source: string, stamp: string): void => void known.set(name(source), stamp),
    save: (): void => writeInternal(store, 'imports.json', JSON.stringify(Object.fromEntries(known))),
  }
}

async function readJournal(path: string): Promise<Record<string, string>> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Record<string, string>
  } catch {
    return {}
  }
}
