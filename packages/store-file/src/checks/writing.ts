import { constants } from 'node:fs'
import { join } from 'node:path'
import { errorCode, orAbsent } from '@recall/core/process'
import { archivedLeftovers } from '../cold/cold-folder.ts'
import { accessName } from '../entries/access-database.ts'
import type { FileStore } from '../file-store.ts'
import { isLeftover } from '../files/atomic-write.ts'
import { type FileSystem, namesIn, statusOf } from '../files/file-system.ts'
import { fromShown, shownPath } from '../files/paths.ts'
import { journalPath } from '../files/transaction.ts'
import { sourcesOf } from '../layout/sources.ts'
import { lockName } from '../lock.ts'
import { indexName } from '../search-index/seal.ts'
import { writersName } from '../search-index/writer-notes.ts'
import { type Report, within } from './report.ts'

/** Reports places that cannot be written, such as the folders of another user, or everything on a read-only disk. */
export function checkWriting(fileSystem: FileSystem, { root, layout }: FileStore, report: Report): void {
  const folders = new Set([...sourcesOf(fileSystem, root, layout).map(({ path }) => path), layout.internal])
  const files = [lockName, indexName, accessName].map((name) => `${layout.internal}/${name}`)
  const journal = shownPath(root, journalPath(fromShown(root, layout.internal)))
  const statusAt = (path: string) => statusOf(fileSystem, fromShown(root, path))
  const inTheWay = [...files, journal].filter((path) => statusAt(path)?.isDirectory())
  const writers = `${layout.internal}/${writersName}`
  const problems = [
    ...inTheWay.map((path) => `${path} is a folder, and in the way of a file`),
    ...(statusAt(writers)?.isFile() ? [`${writers} is a file, and in the way of a folder`] : []),
  ]
  if (problems.length > 0)
    report('writing', problems, '', 'move it away: what belongs there is created again')
  const refused = [...folders, ...files].flatMap((path) => {
    const reason = whyNotWritable(fileSystem, fromShown(root, path))
    return reason === undefined ? [] : [`${path || root} cannot be written (${reason})`]
  })
  if (refused.length === 0 && problems.length > 0) return
  report('writing', refused, 'allowed', 'let this user write there: until then nothing new is kept in it')
}

/** Below this many bytes a write may fail: an archive, the table and the index grow together. */
const leastFree = 1024 * 1024

export function checkDisk(fileSystem: FileSystem, { root }: FileStore, report: Report): void {
  const { blocks, bavail, bsize } = fileSystem.statfsSync(root)
  // Some network disks do not report their size.
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

export function checkJournal(fileSystem: FileSystem, store: FileStore, report: Report): void {
  const isThere =
    statusOf(fileSystem, journalPath(join(store.root, store.layout.internal)))?.isFile() === true
  report(
    'unfinished write',
    isThere ? ['a process died while it wrote'] : [],
    'none',
    "run 'recall doctor --fix' to finish it",
    () => store.exclusively(() => {}),
  )
}

export function checkLeftovers(fileSystem: FileSystem, store: FileStore, report: Report): void {
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

function findLeftovers(fileSystem: FileSystem, store: FileStore): string[] {
  const { root, layout } = store
  const folders = new Set([...sourcesOf(fileSystem, root, layout).map(({ path }) => path), layout.internal])
  const found = [...folders].flatMap((folder) =>
    (namesIn(fileSystem, fromShown(root, folder)) ?? [])
      .filter((name) => isLeftover(fileSystem, fromShown(root, folder), name))
      .map((name) => within(folder, name)),
  )
  return [...found, ...archivedLeftovers(fileSystem, store)]
}
