import { existsSync } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'
import {
  listImportable,
  memoryFormats,
  openTranscript,
  sessionSources,
  splitAddress,
  stateOfSource,
} from '@recall/agents'
import { isMemoryError, MemoryError, MemoryErrorCode, type MemoryManager } from '@recall/core'
import type { FileStore } from '@recall/store-file'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { addCounts } from '../imports/add-counts.ts'
import { createEntryImporter } from '../imports/import-entries.ts'
import { type ImportJournal, openJournal } from '../imports/import-journal.ts'
import { createMemoryImporter } from '../imports/import-memories.ts'
import { isWithin, nameBelow } from '../imports/source-paths.ts'
import { findRoot, type RootOptions } from '../memory/find-root.ts'
import { languageModel, withMemory } from '../memory/memory.ts'
import { firstFew } from '../terminal/first-few.ts'
import { count, formatCounts, formatSkipped } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'
import { withProgress } from '../terminal/progress.ts'
import { createArchiver, formatsIn, throwAll, withoutFormats } from './archive.ts'

export interface ImportOptions extends RootOptions {
  json?: boolean
  dryRun?: boolean
  since?: string
  project?: string
}

interface ImportReport {
  archived: number
  updated: number
  unchanged: number
  empty: number
  /** Sessions and memories that a person had forgotten; they stay forgotten. */
  forgotten: number
  /** Memories of other tools, new or changed. */
  memories: number
  /** Entries that `recall export` printed. */
  entries: number
  /** Memories that differ from their source, and were left as they are. */
  kept: number
  /** Sessions of other projects, and files of no known format. */
  passedOver: number
  failed: { path: string; reason: string }[]
  messages: number
  redactions: Record<string, number>
  skipped: Record<string, number>
}

interface Source {
  path: string
  stamp: string
  /** Milliseconds since the epoch. */
  changedAt: number
  /** Path of the file relative to the given folder, which identifies a note. */
  name: string
  /** Whether the user named the file, rather than a folder above it. */
  isNamed: boolean
}

/**
 * Imports sessions and memories from files and folders or, without any, the sessions of the agents on this machine.
 * Sources that have not changed since the last import are not read again; no source is ever changed.
 */
export async function importAll(io: Io, given: string[], options: ImportOptions): Promise<number> {
  const since = options.since === undefined ? Number.NEGATIVE_INFINITY : toTime(options.since)
  if (Number.isNaN(since)) throw new UsageError(`'${options.since}' is not a date such as 2026-03-01`)
  const { sources: found, failed } = await listSources(io, given, since)
  // A dry run must not create a memory.
  if (options.dryRun && !existsSync(findRoot(io, options)))
    return showPlan(io, found, { ...emptyReport(), failed }, options.json ?? false)
  return withMemory(io, { ...options, create: true }, async (memory, store) => {
    const journal = openJournal(store)
    const isDone = (source: Source): boolean =>
      journal.has(source.path, source.stamp) || journal.has(source.path, stampFor(source, options))
    const todo = found.filter((source) => !isDone(source))
    const report: ImportReport = { ...emptyReport(), failed, unchanged: found.length - todo.length }
    if (options.dryRun) return showPlan(io, todo, report, options.json ?? false)

    const importOne = await createImporter(io, { memory, store, journal, since }, report)
    let formats: readonly string[] | undefined
    const goesOn = 'what was imported stays; run the same again, and it goes on from there'
    await withProgress(io, { what: 'importing', goesOn }, async ({ update }) => {
      for (const [i, source] of todo.entries()) {
        update({ done: i, total: todo.length })
        try {
          if (await isWanted(io, source, options)) await importOne(source)
          else report.passedOver++
          journal.add(source.path, stampFor(source, options))
        } catch (error) {
          // One bad file must not stop the others.
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
    io.out(options.json ? `${JSON.stringify(report)}\n` : printable(describe(report, formats)))
    return report.failed.length > 0 ? exitCodes.failed : exitCodes.fine
  })
}

/** The options are part of the stamp, so that what they leave out is still imported later. */
const stampFor = ({ stamp }: Source, { project, since }: ImportOptions): string =>
  [stamp, project, since].filter((part) => part !== undefined).join('-')

const isWanted = async (io: Io, { path }: Source, { project }: ImportOptions): Promise<boolean> =>
  project === undefined || (await isOfProject(io, path, project))

/**
 * Creates a function that imports a source in whatever form it has, and counts in the report what came of it.
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
  const importOther = async ({ path, name }: Source): Promise<boolean> => {
    const entries = await importEntries(path)
    const outcome = entries ?? (await importMemories(path, name))
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

/** The time of a day, which begins at midnight local time; `NaN` for a day that its month does not have. */
function toTime(date: string): number {
  const [day = '', time = '00:00'] = date.split('T')
  const isDay = /^\d{4}-\d\d-\d\d$/.test(day) && new Date(day).getUTCDate() === Number(day.slice(8))
  return isDay ? Date.parse(`${day}T${time}`) : Number.NaN
}

/** What is to be read, and the paths that cannot be, unless that is all of them. */
async function listSources(
  io: Io,
  given: readonly string[],
  since: number,
): Promise<{ sources: Source[]; failed: ImportReport['failed'] }> {
  const paths = given.length > 0 ? given.map((path) => resolve(io.cwd, path)) : sessionSources(io)
  if (paths.length === 0) {
    throw new MemoryError(
      'no agent on this machine has sessions where they usually are: name a file or folder',
      MemoryErrorCode.NOT_FOUND,
    )
  }
  const found = new Map<string, Source>()
  const unreadable = new Map<string, MemoryError>()
  const list = async (path: string): Promise<void> => {
    for (const file of await listImportable(path)) {
      // Hosts keep plans and other markdown among their sessions: read those only in a folder that the user named.
      if (given.length === 0 && file.endsWith('.md')) continue
      const { stamp, changedAt } = await stateOfSource(file)
      if (changedAt < since || found.has(file)) continue
      const isNamed = file === path
      const name = nameBelow(isNamed ? dirname(path) : path, file)
      found.set(file, { path: file, stamp, changedAt, name, isNamed })
    }
  }
  for (const path of paths) {
    await list(path).catch((error) => {
      if (!isMemoryError(error)) throw error
      unreadable.set(path, error)
    })
  }
  if (found.size === 0) throwAll([...unreadable.values()])
  if (found.size === 0 && since === Number.NEGATIVE_INFINITY) {
    throw new MemoryError(`no transcripts or memories below ${paths.join(', ')}`, MemoryErrorCode.NOT_FOUND)
  }
  const failed = [...unreadable].map(([path, error]) => ({ path, reason: reasonOf(error, path) }))
  return { sources: oldestFirst([...found.values()]), failed }
}

/** Archives are numbered as they come, so the oldest session comes first; each is followed by those of its helpers. */
function oldestFirst(sources: readonly Source[]): Source[] {
  const groups: [Source, ...Source[]][] = []
  for (const source of sources) {
    const group = groups.at(-1)
    const folder = group?.[0].path.replace(/\.jsonl?$/, sep)
    if (group && folder && source.path.startsWith(folder)) group.push(source)
    else groups.push([source])
  }
  return groups.sort(([a], [b]) => a.changedAt - b.changedAt).flat()
}

/** How many messages to read in search of one that names the project's folder. */
const headMessages = 20

/** Whether a session belongs to a project, given by its folder, a folder above it, or the folder's name. */
async function isOfProject(io: Io, path: string, project: string): Promise<boolean> {
  try {
    const { facts, messages } = await openTranscript(path)
    let read = 0
    for await (const _ of messages) if (facts.project !== undefined || ++read >= headMessages) break
    const folder = facts.project ?? ''
    return isWithin(resolve(io.cwd, project), folder) || folder.split(/[\\/]/).includes(project)
  } catch (error) {
    // Files of other tools are no transcripts; they belong to no project.
    if (isMemoryError(error, MemoryErrorCode.INVALID_INPUT)) return false
    throw error
  }
}

function showPlan(
  io: Io,
  todo: readonly Source[],
  { unchanged, failed }: ImportReport,
  json: boolean,
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

const describeFailed = (failed: ImportReport['failed']): string[] =>
  firstFew(
    failed.map(({ path, reason }) => `not imported: ${path}: ${reason}`),
    'file',
  )

const emptyReport = (): ImportReport => ({
  archived: 0,
  updated: 0,
  unchanged: 0,
  empty: 0,
  forgotten: 0,
  memories: 0,
  entries: 0,
  kept: 0,
  passedOver: 0,
  failed: [],
  messages: 0,
  redactions: {},
  skipped: {},
})

/** Why a file was not imported, without its path. */
function reasonOf(error: MemoryError, path: string): string {
  const message = withoutFormats(error, path)
  return message.startsWith(`${path} `) ? message.slice(path.length + 1) : message
}

function describe(report: ImportReport, formats: readonly string[] = []): string {
  const lines = [
    `${report.archived} archived, ${report.updated} brought up to date, ${report.unchanged} unchanged, ${report.empty} empty (${count(report.messages, 'message')})`,
    ...(report.memories > 0 ? [`${count(report.memories, 'memory', 'memories')} of other tools`] : []),
    ...(report.entries > 0 ? [`${count(report.entries, 'memory', 'memories')} of an export`] : []),
    ...(report.kept > 0 ? [`${report.kept} left as they are: they say something else here`] : []),
    ...(report.passedOver > 0 ? [`${report.passedOver} passed over: other projects, or no known form`] : []),
    ...(Object.keys(report.redactions).length > 0
      ? [`secrets replaced: ${formatCounts(report.redactions)}`]
      : []),
    ...(Object.keys(report.skipped).length > 0 ? [`passed over: ${formatSkipped(report.skipped)}`] : []),
    ...(report.forgotten > 0 ? [`left out, because forgotten: ${report.forgotten}`] : []),
    ...describeFailed(report.failed),
    ...(formats.length > 0
      ? [`Recall understands: ${[...formats, ...memoryFormats, "what 'recall export' printed"].join('; ')}`]
      : []),
  ]
  return `${lines.join('\n')}\n`
}
