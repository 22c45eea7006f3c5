import { splitAddress } from '@recall/agents'
import { isMemoryError, MemoryErrorCode, type MemoryManager } from '@recall/core'
import type { FileStore } from '@recall/store-file'
import { addCounts } from '../add-counts.ts'
import { createArchiver } from '../archiving/archiver.ts'
import { type ImportJournal, openJournal } from '../archiving/import-journal.ts'
import { formatsIn } from '../archiving/known-formats.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { createEntryImporter } from '../imports/import-entries.ts'
import { createMemoryImporter } from '../imports/import-memories.ts'
import {
  describeFailed,
  describeImport,
  emptyReport,
  type ImportReport,
  reasonOf,
} from '../imports/import-report.ts'
import { isOfProject, listSources, type Source } from '../imports/import-sources.ts'
import { findRoot, type RootOptions } from '../memory/find-root.ts'
import { languageModel } from '../memory/language-model.ts'
import { requireWired } from '../memory/receipts.ts'
import { holdsMemory } from '../memory/require-memory.ts'
import { withMemory } from '../memory/with-memory.ts'
import { firstFew } from '../terminal/first-few.ts'
import { count } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'
import { withProgress } from '../terminal/progress.ts'

export interface ImportOptions extends RootOptions {
  json?: boolean
  dryRun?: boolean
  since?: string
  project?: string
}

/**
 * Imports sessions and memories from files and folders or, without any, the sessions of the agents on this machine.
 * Sources that have not changed since the last import are not read again; no source is ever changed.
 */
export async function importAll(io: Io, given: string[], options: ImportOptions): Promise<number> {
  const since = options.since === undefined ? Number.NEGATIVE_INFINITY : toTime(options.since)
  if (Number.isNaN(since)) throw new UsageError(`'${options.since}' is not a date such as 2026-03-01`)
  const { sources: found, failed } = await listSources(io, given, since)
  const root = findRoot(io, options)
  requireWired(io, root)
  // A dry run must not create a memory, nor say that it does.
  if (options.dryRun && !holdsMemory(root, options))
    return showPlan(io, await wantedOf(io, found, options), { ...emptyReport(), failed }, options.json)
  return withMemory(io, { ...options, create: true }, async (memory, store) => {
    const journal = openJournal(store)
    const isDone = (source: Source): boolean =>
      journal.has(source.path, source.stamp) || journal.has(source.path, stampFor(source, options))
    const todo = found.filter((source) => !isDone(source))
    const report: ImportReport = { ...emptyReport(), failed, unchanged: found.length - todo.length }
    if (options.dryRun) return showPlan(io, await wantedOf(io, todo, options), report, options.json)

    const importSource = await createImporter(io, { memory, store, journal, since }, report)
    const importWanted = async (source: Source): Promise<void> => {
      if (await isWanted(io, source, options)) await importSource(source)
      else report.passedOver++
      journal.add(source.path, stampFor(source, options))
    }
    const formats = await importEach(io, todo, importWanted, journal, report)
    io.out(options.json ? `${JSON.stringify(report)}\n` : printable(describeImport(report, formats)))
    return report.failed.length > 0 ? exitCodes.failed : exitCodes.fine
  })
}

/**
 * Imports sources one by one. A failure is reported, and does not stop the others.
 *
 * @returns the formats that were tried for files of no known format
 */
async function importEach(
  io: Io,
  todo: readonly Source[],
  importOne: (source: Source) => Promise<void>,
  journal: ImportJournal,
  report: ImportReport,
): Promise<readonly string[] | undefined> {
  let formats: readonly string[] | undefined
  const goesOn = 'what was imported stays; run the same again, and it goes on from there'
  await withProgress(io, { what: 'importing', goesOn }, async ({ update }) => {
    for (const [i, source] of todo.entries()) {
      update({ done: i, total: todo.length })
      try {
        await importOne(source)
      } catch (error) {
        if (!isMemoryError(error)) throw error
        if (error.details?.forgotten) report.forgotten++
        else {
          report.failed.push({ path: source.path, reason: reasonOf(error, source.path) })
          formats ??= formatsIn(error)
        }
      }
      // Saved regularly, so that an interrupted import continues where it stopped.
      if ((i + 1) % 20 === 0) journal.save()
    }
  })
  if (todo.length > 0) journal.save()
  return formats
}

/** The options are part of the stamp, so that sources they exclude are still imported later. */
const stampFor = ({ stamp }: Source, { project, since }: ImportOptions): string =>
  [stamp, project, since].filter((part) => part !== undefined).join('-')

const isWanted = async (io: Io, { path }: Source, { project }: ImportOptions): Promise<boolean> =>
  project === undefined || (await isOfProject(io, path, project))

async function wantedOf(io: Io, sources: readonly Source[], options: ImportOptions): Promise<Source[]> {
  const wanted: Source[] = []
  for (const source of sources) {
    // If a source cannot be read now, the import tries it and reports the failure.
    if (await isWanted(io, source, options).catch(() => true)) wanted.push(source)
  }
  return wanted
}

/**
 * Creates a function that imports a source of any format, and counts the outcome in the report.
 *
 * @param into.since leaves out memories from before this time, in milliseconds since the epoch
 */
async function createImporter(
  io: Io,
  into: { memory: MemoryManager; store: FileStore; journal: ImportJournal; since: number },
  report: ImportReport,
): Promise<(source: Source) => Promise<void>> {
  const { memory, store, journal, since } = into
  const now = io.now()
  const archiver = await createArchiver(memory, store, 'session', { lm: languageModel(io), journal })
  const importEntries = createEntryImporter(store, { since, now })
  const importMemories = createMemoryImporter(memory, store, { since, now, journal })

  const importSession = async (path: string): Promise<void> => {
    const { status, messageCount, redactions, skipped } = await archiver(path)
    report[status]++
    if (status === 'archived' || status === 'updated') report.messages += messageCount
    addCounts(report.redactions, redactions)
    addCounts(report.skipped, skipped)
  }

  /** @returns whether the file is an export, or holds memories of another tool */
  const importOther = async (source: Source): Promise<boolean> => {
    const entries = await importEntries(source.path)
    const outcome = entries ?? (await importMemories(source))
    if (outcome === null) return false
    report[entries ? 'entries' : 'memories'] += outcome.written
    report.unchanged += outcome.unchanged
    report.forgotten += outcome.forgotten
    report.kept += outcome.kept
    addCounts(report.redactions, outcome.redactions)
    addCounts(report.skipped, outcome.skipped)
    return true
  }

  return async (source) => {
    const { path, isNamed } = source
    try {
      await importSession(path)
    } catch (error) {
      if (!isMemoryError(error, MemoryErrorCode.INVALID_INPUT)) throw error
      // The address of a session in a database cannot be a file of another format.
      if (splitAddress(path) !== null) throw error
      if (await importOther(source)) return
      if (isNamed || path.endsWith('.jsonl')) throw error
      else report.passedOver++
    }
  }
}

/** The start of a day, midnight local time; `NaN` for a day that its month does not have. */
function toTime(date: string): number {
  const [day = '', time = '00:00'] = date.split('T')
  const isDay = /^\d{4}-\d\d-\d\d$/.test(day) && new Date(day).getUTCDate() === Number(day.slice(8))
  return isDay ? Date.parse(`${day}T${time}`) : Number.NaN
}

function showPlan(
  io: Io,
  todo: readonly Source[],
  { unchanged, failed }: ImportReport,
  json = false,
): number {
  const paths = todo.map(({ path }) => path)
  const lines = [
    ...firstFew(paths, 'file'),
    `${count(paths.length, 'file')} would be read, ${unchanged} unchanged`,
    ...describeFailed(failed),
  ]
  io.out(
    json
      ? `${JSON.stringify({ wouldRead: paths, unchanged, ...(failed.length > 0 ? { failed } : {}) })}\n`
      : printable(`${lines.join('\n')}\n`),
  )
  return failed.length > 0 ? exitCodes.failed : exitCodes.fine
}
