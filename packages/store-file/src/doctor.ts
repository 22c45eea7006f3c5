import { constants } from 'node:fs'
import { join } from 'node:path'
import { type ConversationArchive, isMemoryError } from '@recall/core'
import { readConfig } from './config.ts'
import {
  archiveRows,
  printArchiveRow,
  withArchiveRows,
  withoutArchiveRows,
} from './documents/archive-index.ts'
import { parseConversation } from './documents/conversation.ts'
import type { FileStore } from './file-store.ts'
import { isLeftover, replaceFile } from './files/atomic-write.ts'
import { contentHash } from './files/digest.ts'
import { errorCode, type FileSystem, orAbsent } from './files/file-system.ts'
import { fromShown } from './files/paths.ts'
import { readText } from './files/read-text.ts'
import { journalPath } from './files/transaction.ts'
import { archiveFile, archiveName, archiveNumber, layouts } from './layout/layout.ts'
import { layoutFile } from './layout/layout-file.ts'
import { sourcesOf } from './layout/sources.ts'
import { lockName } from './lock.ts'
import { indexName } from './search-index/seal.ts'
import { hasUnreadableVectors } from './vectors/kept-model.ts'

export interface Finding {
  check: string
  ok: boolean
  /** What is wrong: the first few of the problems, and how many more there are. */
  message: string
  /** All problems, where there are several. */
  problems?: string[]
  /** What to do, when something is wrong. */
  remedy?: string
  fixed?: boolean
}

export interface CheckUpOptions {
  /** Also reads every file and checks the index page by page. */
  deep: boolean
  /** Mends what can be mended without losing anything. */
  fix: boolean
}

/** Examines a memory and, when asked, mends what is derived; what people wrote is never touched. */
export function checkUp(fileSystem: FileSystem, store: FileStore, { deep, fix }: CheckUpOptions): Finding[] {
  const { root, layout } = store
  const findings: Finding[] = []
  const report: Report = (check, problems, fine, remedy, mend) => {
    if (problems.length === 0) return void findings.push({ check, ok: true, message: fine })
    const fixed = fix && mend !== undefined
    if (fixed) mend()
    const several = problems.length > 1 ? { problems } : {}
    const message = named(problems).join('; ')
    findings.push({ check, ok: fixed, message, ...several, remedy, ...(fixed ? { fixed } : {}) })
  }

  report(
    'folder',
    fileSystem.existsSync(join(root, layout.memory)) ? [] : [`${layout.memory} is missing`],
    `${root} (${layout.name} layout)`,
    "run 'recall init'",
  )
  if (!fileSystem.existsSync(join(root, layout.memory))) return findings

  const elsewhere = Object.values(layouts).flatMap(({ name, window, archives }) =>
    [window, archives]
      .filter((path) => ![layout.window, layout.archives].includes(path))
      .filter((path) => fileSystem.existsSync(join(root, path)))
      .map((path) =>
        name === layout.name
          ? `${path} is where the ${name} layout has it, but ${layoutFile} names another place`
          : `${path} belongs to the ${name} layout`,
      ),
  )
  report(
    'layout',
    elsewhere,
    'one layout',
    'its archives are searched; move them to one place when convenient',
  )

  const { problem } = readConfig(fileSystem, root, layout)
  report('configuration', problem ? [problem] : [], 'valid', `correct ${layout.config}`)

  // One check that cannot be made must not hide what the others find.
  const attempt = (check: string, call: () => void): void => {
    try {
      call()
    } catch (error) {
      if (!isMemoryError(error) && errorCode(error) === undefined) throw error
      report(check, [(error as Error).message], '', 'mend that first')
    }
  }
  attempt('writing', () => checkWriting(fileSystem, store, report))
  attempt('disk', () => checkDisk(fileSystem, store, report))
  attempt('unfinished write', () => checkJournal(fileSystem, store, report))
  attempt('leftovers', () => checkLeftovers(fileSystem, store, report))
  attempt('archive table', () => checkArchiveTable(fileSystem, store, report))
  attempt('places', () => checkPlaces(fileSystem, store, report))
  attempt('index', () => checkIndex(fileSystem, store, deep, report))
  return findings
}

type Report = (check: string, problems: string[], fine: string, remedy: string, mend?: () => void) => void

/** Reports where nothing can be kept, such as the folders of another user, or all of a disk that can only be read. */
function checkWriting(fileSystem: FileSystem, { root, layout }: FileStore, report: Report): void {
  const folders = new Set([...sourcesOf(fileSystem, root, layout).map(({ path }) => path), layout.internal])
  const files = [lockName, indexName].map((name) => `${layout.internal}/${name}`)
  report(
    'writing',
    [...folders, ...files].flatMap((path) => {
      const reason = whyNotWritable(fileSystem, fromShown(root, path))
      return reason === undefined ? [] : [`${path || root} cannot be written (${reason})`]
    }),
    'allowed',
    'let this user write there: until then nothing new is kept in it',
  )
}

/** Below this many bytes a write may fail: an archive, the table and the index grow together. */
const leastFree = 1024 * 1024

function checkDisk(fileSystem: FileSystem, { root }: FileStore, report: Report): void {
  const { blocks, bavail, bsize } = fileSystem.statfsSync(root)
  // Some network disks do not tell their size.
  const isFull = blocks > 0 && bavail * bsize < leastFree
  report(
    'disk',
    isFull ? [`less than 1 MB is free on the disk of ${root}`] : [],
    'has room',
    'make room there: until then nothing new may be kept',
  )
}

function whyNotWritable(fileSystem: FileSystem, path: string): string | undefined {
  try {
    orAbsent(() => fileSystem.accessSync(path, constants.W_OK))
    return undefined
  } catch (error) {
    if (errorCode(error) === undefined) throw error
    return errorCode(error)
  }
}

function checkJournal(fileSystem: FileSystem, store: FileStore, report: Report): void {
  const isThere = fileSystem.existsSync(journalPath(join(store.root, store.layout.internal)))
  report(
    'unfinished write',
    isThere ? ['a process died while it wrote'] : [],
    'none',
    "run 'recall doctor --fix' to finish it",
    () => store.exclusively(() => {}),
  )
}

function checkLeftovers(fileSystem: FileSystem, store: FileStore, report: Report): void {
  const leftovers = findLeftovers(fileSystem, store)
  report(
    'leftovers',
    leftovers.map((path) => `${path} was never finished`),
    'none',
    "run 'recall doctor --fix' to remove them",
    () => {
      for (const path of leftovers) orAbsent(() => fileSystem.unlinkSync(fromShown(store.root, path)))
    },
  )
}

function findLeftovers(fileSystem: FileSystem, { root, layout }: FileStore): string[] {
  const folders = new Set([...sourcesOf(fileSystem, root, layout).map(({ path }) => path), layout.internal])
  return [...folders].flatMap((folder) =>
    (orAbsent(() => fileSystem.readdirSync(fromShown(root, folder))) ?? [])
      .filter((name) => isLeftover(fileSystem, fromShown(root, folder), name))
      .map((name) => within(folder, name)),
  )
}

/** A path relative to the root; the folder is empty for the root itself. */
const within = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)

function checkArchiveTable(fileSystem: FileSystem, store: FileStore, report: Report): void {
  const { root, layout } = store
  const path = join(root, layout.archiveIndex)
  const found = orAbsent(() => fileSystem.readdirSync(join(root, layout.archives)))
  const rows = archiveRows(readText(fileSystem, path)?.content ?? '')
  if (found === null && rows.length > 0) {
    // A missing folder is not an empty one: keep the table.
    const problem = `${layout.archives} is missing, and the table has ${counted(rows.length, 'row')}`
    report('archive table', [problem], '', 'put the folder back')
    return
  }
  const names = (found ?? []).filter((name) => archiveFile.test(name)).sort()
  const files = names.map(archiveNumber)
  const [ofRows, ofFiles] = [new Set(rows), new Set(files)]
  const missing = names.filter((name) => !ofRows.has(archiveNumber(name)))
  const extra = rows.filter((number) => !ofFiles.has(number))
  report(
    'archive table',
    [
      ...missing.map((name) => `archive ${archiveNumber(name)} has no row`),
      ...extra.map((number) => `row ${number} has no archive`),
    ],
    `${counted(files.length, 'archive')}, ${counted(rows.length, 'row')}`,
    "run 'recall doctor --fix' to add and remove rows",
    () =>
      store.exclusively(() => {
        const table = readText(fileSystem, path)?.content ?? ''
        const added = missing.map((name) => [archiveNumber(name), rowOf(fileSystem, store, name)] as const)
        replaceFile(fileSystem, path, withoutArchiveRows(withArchiveRows(table, new Map(added)), extra))
      }),
  )
  report(
    'archive numbers',
    repeated(files).map((number) => `number ${number} is used twice`),
    'each used once',
    'rename one of the files',
  )
}

const mostNamed = 5

/** The first few problems, and how many more there are. */
const named = (problems: readonly string[]): string[] => [
  ...problems.slice(0, mostNamed),
  ...(problems.length > mostNamed ? [`and ${problems.length - mostNamed} more`] : []),
]

const counted = (n: number, noun: string, plural = `${noun}s`): string => `${n} ${n === 1 ? noun : plural}`

/** The numbers that stand there again. */
function repeated(numbers: readonly number[]): number[] {
  const seen = new Set<number>()
  return numbers.filter((number) => seen.size === seen.add(number).size)
}

/** The table row of an archive; one that cannot be read gets a row without details. */
function rowOf(fileSystem: FileSystem, { root, layout }: FileStore, name: string): string {
  const file = orUnreadable(() => readText(fileSystem, join(root, layout.archives, name)))
  const times = { modified: file?.stamp.modified ?? 0 }
  const entry = parseConversation(file?.content ?? '', archiveNumber(name), name.slice(0, -3), times)
  return printArchiveRow(entry.value as ConversationArchive, archiveNumber(name))
}

/** Reports notes and archives in places, or under names, that no search reads, and folders that have such a name. */
function checkPlaces(fileSystem: FileSystem, store: FileStore, report: Report): void {
  const { memory, archives } = store.layout
  report(
    'places',
    [
      ...findUnread(fileSystem, store).map((path) => `${path} is not read`),
      ...foldersForFiles(fileSystem, store).map((path) => `${path} is a folder, and should be a file`),
    ],
    'every markdown file is read',
    `move or rename them: ${memory}/*.md, ${memory}/<scope>/*.md and ${archives}/${archiveName(store.layout, 1)} are read`,
  )
}

function foldersForFiles(fileSystem: FileSystem, { root, layout }: FileStore): string[] {
  return sourcesOf(fileSystem, root, layout).flatMap(({ path, accepts }) =>
    (orAbsent(() => fileSystem.readdirSync(fromShown(root, path), { withFileTypes: true })) ?? [])
      .filter((each) => each.isDirectory() && accepts(each.name))
      .map(({ name }) => within(path, name)),
  )
}

function findUnread(fileSystem: FileSystem, { root, layout }: FileStore): string[] {
  const sources = new Map(sourcesOf(fileSystem, root, layout).map((source) => [source.path, source]))
  const isRead = (folder: string, name: string): boolean =>
    sources.get(folder)?.accepts(name) === true ||
    [layout.window, layout.archiveIndex].includes(`${folder}/${name}`)
  const unreadBelow = (folder: string): string[] =>
    (orAbsent(() => fileSystem.readdirSync(fromShown(root, folder), { withFileTypes: true })) ?? []).flatMap(
      (each) => {
        const path = `${folder}/${each.name}`
        if (each.name.startsWith('.') || path === layout.cold || path === layout.archives) return []
        if (each.isDirectory()) return unreadBelow(path)
        return each.name.endsWith('.md') && !isRead(folder, each.name) ? [path] : []
      },
    )
  return [layout.memory, layout.archives].flatMap(unreadBelow).sort()
}

function checkIndex(fileSystem: FileSystem, store: FileStore, deep: boolean, report: Report): void {
  const { root, layout } = store
  const traces = store.hasTraces()
    ? ['what was forgotten may still stand in it: the rebuild that has to follow was interrupted']
    : []
  if (traces.length === 0 && !fileSystem.existsSync(join(root, layout.internal, indexName))) {
    report('index', [], 'none yet: the first search builds it', '')
    return
  }
  const damage = deep ? store.index.damage() : null
  report(
    'index',
    damage ? [damage, ...traces] : traces,
    counted(store.index.fresh().countDocuments(), 'entry', 'entries'),
    "run 'recall reindex --full'",
    () => store.reindex({ full: true }),
  )
  const unreadable = store.index
    .fresh()
    .problems()
    .map(({ folder, name, problem }) => {
      // What could not be opened names itself, by its whole path.
      const whole = `${join(fromShown(root, folder), name)} `
      return problem.startsWith(whole)
        ? `${folder}/${name} ${problem.slice(whole.length)}`
        : `${folder}/${name}: ${problem}`
    })
  const coverage = store.vectorCoverage()
  if (coverage) {
    const { model, embedded, total } = coverage
    report(
      'vectors',
      embedded < total ? [`${total - embedded} of ${total} passages have no vector of ${model} yet`] : [],
      `${total} passages have one of ${model}`,
      "run 'recall reindex --model'; until then words find them",
    )
  }
  if (hasUnreadableVectors(store, fileSystem))
    report('vectors', ['they cannot be read'], '', "run 'recall reindex --model'; until then words find")
  report('files', unreadable, 'all readable', 'correct these files by hand; nothing in them was changed')
  if (!deep) return
  const staleFiles = (): string[] =>
    store.index
      .fresh()
      .hashes()
      .filter(({ folder, name, hash }) => {
        const file = orUnreadable(() => readText(fileSystem, join(fromShown(root, folder), name)))
        return file && Buffer.compare(contentHash(file.bytes), hash) !== 0
      })
      .map(({ folder, name }) => `${folder}/${name} is not what was indexed`)
  let stale = staleFiles()
  if (stale.length > 0) {
    // Others may have written them while they were looked at.
    store.index.update()
    const still = new Set(staleFiles())
    stale = stale.filter((file) => still.has(file))
  }
  report('contents', stale, 'the index agrees with every file', "run 'recall reindex --full'", () =>
    store.reindex({ full: true }),
  )
}

/** Files that cannot be read are reported by another check. */
function orUnreadable<T>(call: () => T): T | null {
  try {
    return call()
  } catch {
    return null
  }
}
