import { join } from 'node:path'
import { isMemoryError } from '@recall/core'
import { orAbsent } from '@recall/core/process'
import type { ReadConfig } from './default-config.ts'
import { datesInTable } from './documents/archive-index.ts'
import { stringsOf } from './documents/file-entry.ts'
import { parseFrontMatter } from './documents/front-matter.ts'
import { mergeIn } from './documents/merge.ts'
import { openingIn } from './documents/opening.ts'
import { parseWindow } from './documents/window.ts'
import { type FileSystem, namesIn, orUnusable, statusOf } from './files/file-system.ts'
import { fromShown, isInside, refuseLinks } from './files/paths.ts'
import { readText, type TextFile } from './files/read-text.ts'
import { archiveFile, archiveNumber, type Layout } from './layout/layout.ts'
import { sourcesOf } from './layout/sources.ts'
import { indexName, readSeal } from './search-index/seal.ts'
import { writersIn, writersName } from './search-index/writer-notes.ts'

/** MEMORY.md should stay below this, so that it fits an agent's context. */
export const memoryLineLimit = 200

export interface MemoryStatus {
  root: string
  layout: Layout['name']
  present: { memory: boolean; curated: boolean; archives: boolean }
  memory: { lines: number; limit: number }
  ephemeral: { entries: number; max: number }
  archives: { count: number; bytes: number }
  /** `fresh`: the folders look as they did when the index was last in step with them. */
  index: { fresh: boolean; documents: number }
  /** The sessions that ended last, the latest first. */
  recent: RecentArchive[]
  /** Problems with files and folders: they cannot be read, or hold what is left of a merge. */
  faults: string[]
  /** What is wrong with the configuration, if anything. */
  problem?: string
}

export interface RecentArchive {
  number: number
  date: string
  session: string
  /** In this part only, if a long session has several. */
  messages: number
  duration: string
  /** Which part of a long session it is: the last one; absent if it is the only one. */
  part?: number
  topics: string[]
  /** The title of the session, if it has one. */
  title?: string
  /** Without a title, the first line of its summary, or of what was said. */
  opening?: string
}

const recentCount = 5

/**
 * The state of a memory at a glance. Changes nothing and opens no database: `index` is `null` for an index that is in
 * use at this moment, or was not closed properly.
 *
 * @throws MemoryError UNAVAILABLE when the root exists and cannot be read
 */
export function readStatus(
  fileSystem: FileSystem,
  root: string,
  layout: Layout,
  config: ReadConfig,
): StatusAsRead {
  return orUnusable(root, () => statusAt(fileSystem, root, layout, config))
}

/** The index is `null` where it cannot be read. */
export type StatusAsRead = Omit<MemoryStatus, 'index'> & { index: MemoryStatus['index'] | null }

function statusAt(
  fileSystem: FileSystem,
  root: string,
  layout: Layout,
  { config, problem }: ReadConfig,
): StatusAsRead {
  const faults: string[] = []
  const readable = <T>(call: () => T | null): T | null => {
    try {
      return call()
    } catch (error) {
      if (!isMemoryError(error)) throw error
      faults.push(error.message)
      return null
    }
  }
  const real = orAbsent(() => fileSystem.realpathSync.native(root)) ?? root
  for (const { path } of sourcesOf(fileSystem, root, layout))
    readable(() => isInside(fileSystem, real, fromShown(real, path)))
  // Nothing else opens the memory when this fails.
  readable(
    () => orUnusable(root, () => refuseLinks(fileSystem, real, fromShown(real, layout.internal))) ?? null,
  )
  const document = (path: string): string => {
    const content = readable(() => readText(fileSystem, join(root, path)))?.content ?? ''
    const merge = mergeIn(content)
    if (merge) faults.push(`${path} holds ${merge}: 'recall doctor' says what to do`)
    return content
  }
  const curated = document(layout.curated)
  const window = document(layout.window)
  const names = namesIn(fileSystem, join(root, layout.archives))
  const archives = (names ?? []).filter((name) => archiveFile.test(name))
  const table = readable(() => readText(fileSystem, join(root, layout.archiveIndex)))
  return {
    root,
    layout: layout.name,
    present: {
      memory: fileSystem.existsSync(join(root, layout.memory)),
      curated: fileSystem.existsSync(join(root, layout.curated)),
      archives: names !== null,
    },
    memory: { lines: countLines(curated), limit: memoryLineLimit },
    ephemeral: {
      entries: parseWindow(window).filter(({ session }) => session).length,
      max: config.ephemeral.maxEntries,
    },
    archives: {
      count: archives.length,
      bytes: archives.reduce((sum, name) => sum + sizeOf(fileSystem, join(root, layout.archives, name)), 0),
    },
    index: indexStatus(fileSystem, root, layout),
    recent: latest(archives, table?.content ?? '').flatMap((name) => {
      const file = readable(() => readText(fileSystem, join(root, layout.archives, name)))
      return file ? [recentArchive(file, name)] : []
    }),
    faults,
    ...(problem ? { problem } : {}),
  }
}

function indexStatus(fileSystem: FileSystem, root: string, layout: Layout): MemoryStatus['index'] | null {
  const internal = join(root, layout.internal)
  if (!fileSystem.existsSync(join(internal, indexName))) return { fresh: false, documents: 0 }
  const seal = readSeal(fileSystem, internal)
  if (!seal) return null
  const writers = writersIn(fileSystem, join(internal, writersName))
  const inStep = sourcesOf(fileSystem, root, layout).every(({ path }) => {
    const modified = statusOf(fileSystem, join(root, path))?.mtimeMs ?? 0
    return modified === Math.abs(seal.folders[path] ?? 0)
  })
  return { fresh: inStep && writers.length === 0, documents: seal.documents }
}

/**
 * The last archive of each of the sessions that ended last, without those of helpers. Dates come from the table:
 * imports number sessions as they arrive, and opening every archive would take long. Sessions without a date there
 * count as older than the rest.
 */
function latest(archives: readonly string[], table: string): string[] {
  const rows = datesInTable(table)
  const newestFirst = archives
    .map((name) => {
      const number = archiveNumber(name)
      return { name, number, ...(rows.get(number) ?? { date: '', session: name }) }
    })
    .filter(({ session }) => !session.includes('/'))
    .sort((a, b) => (a.date === b.date ? b.number - a.number : a.date < b.date ? 1 : -1))
  const lastParts = new Map<string, string>()
  for (const { name, session } of newestFirst) {
    const whole = session.replace(/ \(part \d+\)$/, '')
    if (!lastParts.has(whole)) lastParts.set(whole, name)
    if (lastParts.size === recentCount) break
  }
  return [...lastParts.values()]
}

/**
 * Facts that are missing from the front matter of another tool's archive are derived from the file, as when it is read.
 */
function recentArchive({ content, stamp }: TextFile, name: string): RecentArchive {
  const { fields, body } = parseFrontMatter(content)
  const opening = typeof fields.title === 'string' ? undefined : openingIn(body)
  return {
    number: archiveNumber(name),
    date: String(fields.date ?? new Date(stamp.modified).toISOString()),
    session: String(fields.session_id ?? name.slice(0, -3)),
    messages: Number(fields.message_count ?? 0),
    duration: String(fields.duration ?? '0s'),
    ...(typeof fields.part === 'number' && fields.part > 1 ? { part: fields.part } : {}),
    topics: stringsOf(fields.topics),
    ...(typeof fields.title === 'string' ? { title: fields.title } : {}),
    ...(opening === undefined ? {} : { opening }),
  }
}

const sizeOf = (fileSystem: FileSystem, path: string): number => statusOf(fileSystem, path)?.size ?? 0

/** Lines as an editor counts them: a trailing line end does not begin another line. */
function countLines(text: string): number {
  if (text === '') return 0
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}
