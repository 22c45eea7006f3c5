import {
  copyFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join, posix, resolve, sep } from 'node:path'
import { isMemoryError, MemoryError, MemoryErrorCode } from '@recall/core'
import { createFolder, renamePatiently, syncFolder } from '@recall/core/process'
import { defaultFileSystem, type Layout, layoutFile, layoutOf, layouts, layoutsOf } from '@recall/store-file'
import { extract, type TarOptionsWithAliases } from 'tar'
import { UsageError } from '../exit-codes.ts'
import { isLeftOut } from '../memory/derived-files.ts'
import { findRoot, type RootOptions } from '../memory/find-root.ts'
import { ownName, removeAbandoned, removedIfEnded } from '../memory/unfinished.ts'
import { withStore } from '../memory/with-store.ts'
import { count } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { type Progress, withProgress } from '../terminal/progress.ts'

const stagingMark = '.restoring-'

/** Restores a saved memory where there is none. */
export async function restore(
  io: Io,
  file: string,
  options: RootOptions & { json?: boolean },
): Promise<undefined> {
  const source = resolve(io.cwd, file)
  if (!existsSync(source))
    throw new MemoryError(
      `${source} does not exist: name what 'recall backup' wrote`,
      MemoryErrorCode.NOT_FOUND,
    )
  // A pipe may never end, and no signal ends this process while it waits for one.
  if (!statSync(source).isFile()) {
    throw new MemoryError(`${source} is not a file: a backup is one`, MemoryErrorCode.INVALID_INPUT)
  }
  const root = findRoot(io, options)
  if (!isFree(join(root, 'memory'))) throw occupied(root)
  await putBack(io, source, root, options)
  const documents = await withStore(io, { ...options, root }, async (store) => {
    await withProgress(io, { what: 'indexing' }, ({ update }) =>
      store.reindex({ full: true, onProgress: update }),
    )
    return store.index.asIs().countDocuments()
  })
  if (options.json) io.out(`${JSON.stringify({ root, documents })}\n`)
  else io.out(`Restored ${count(documents, 'entry', 'entries')} to ${root}\n`)
  return undefined
}

/**
 * Unpacks a backup next to the root and renames it at the end, so that a failed restore leaves nothing half-done. If
 * the root exists it unpacks inside, because the root may be a disk of its own.
 */
async function putBack(io: Io, source: string, root: string, { layout }: RootOptions): Promise<void> {
  createFolder(dirname(root))
  const inside = join(root, 'memory')
  removeAbandoned(root, stagingMark)
  if (existsSync(root)) removeAbandoned(inside, stagingMark)
  const staging = ownName(existsSync(root) ? inside : root, stagingMark)
  try {
    await removedIfEnded(io, { paths: [staging], told: 'nothing was restored' }, async () => {
      // It becomes the root, which is private to its user.
      createFolder(staging, 0o700)
      const [link] = unpack(source, staging)
      const problem = link === undefined ? whyNoMemory(staging) : `${link} is a link`
      if (problem)
        throw new MemoryError(
          `${source} is not a backup of a memory, nothing was restored: ${problem}`,
          MemoryErrorCode.INVALID_INPUT,
        )
      requireSamePlaces(staging, { source, root, layout })
      await withProgress(io, { what: 'restoring' }, ({ update }) => makeAllDurable(staging, update))
      moveIn(staging, root)
    })
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/**
 * Unpacks an archive; returns the paths of its links, which are left out, as is everything that a backup never holds:
 * an index, locks, a journal. The archive may have come from anybody: only its owner may write to the unpacked files,
 * and none of them runs as another user. Only its owner may enter the folders, as where Recall creates them.
 */
function unpack(source: string, folder: string): string[] {
  const links: string[] = []
  const filter: TarOptionsWithAliases['filter'] = (path, entry) => {
    if (!('type' in entry)) return true
    if (entry.mode !== undefined) entry.mode &= 0o755
    const isLink = entry.type === 'SymbolicLink' || entry.type === 'Link'
    if (isLink) links.push(path)
    return !isLink && !isLeftOut(posix.normalize(path))
  }
  try {
    // One after the other: many at once take twice the memory, and no less time on a busy disk.
    const strictly = { strict: true, preservePaths: false, sync: true } as const
    extract({ file: source, cwd: folder, dmode: 0o700, ...strictly, filter })
  } catch (cause) {
    const { message, syscall } = cause as NodeJS.ErrnoException
    // A full disk says nothing about the backup.
    if (syscall !== undefined) {
      throw new MemoryError(
        `${source} could not be unpacked, nothing was restored: ${message}`,
        MemoryErrorCode.UNAVAILABLE,
        { cause },
      )
    }
    throw new MemoryError(
      `${source} is not a complete backup, nothing was restored: ${message}`,
      MemoryErrorCode.CORRUPTION,
      { cause },
    )
  }
  return links
}

/**
 * Why a folder does not look like an unpacked backup; `undefined` if it does. Other files must not come along: the root
 * may be a folder whose settings and start-up files other programs obey.
 */
function whyNoMemory(folder: string): string | undefined {
  const isMemory = statSync(join(folder, layouts.entity.memory), { throwIfNoEntry: false })?.isDirectory()
  if (!isMemory) return 'it has no folder memory'
  try {
    const parts = layoutsOf(defaultFileSystem, folder).flatMap(
      ({ memory, window, archiveIndex, archives }) => [memory, window, archiveIndex, archives],
    )
    const other = firstOutside(folder, '', [layoutFile, ...parts])
    return other === undefined ? undefined : `${other} does not belong to one`
  } catch (error) {
    if (!isMemoryError(error, MemoryErrorCode.INVALID_INPUT)) throw error
    return error.message.replace(`${folder}${sep}`, '')
  }
}

/**
 * Refuses before anything is put into the root: afterwards the root would count as taken. A root may have its own file
 * that says where things lie.
 *
 * @throws MemoryError CONFLICT when that file names other places than the backup, which nobody would look at
 */
function requireSamePlaces(
  staging: string,
  { source, root, layout }: { source: string; root: string } & Pick<RootOptions, 'layout'>,
): void {
  const saved = layoutIn(staging, source, layout)
  const own = join(root, layoutFile)
  if (!existsSync(own) || existsSync(join(staging, layoutFile))) return
  copyFileSync(own, join(staging, layoutFile))
  const restored = layoutIn(staging, root, layout)
  const isMoved = (['window', 'archiveIndex', 'archives'] as const).some(
    (part) => saved[part] !== restored[part],
  )
  if (isMoved) throw notAsSaved(own)
}

/** @throws UsageError when there is none, or another one than `--layout`; the message names the folder as people do */
function layoutIn(folder: string, shownAs: string, layout: RootOptions['layout']): Layout {
  try {
    return layoutOf(defaultFileSystem, folder, layout)
  } catch (error) {
    if (!isMemoryError(error) && !(error instanceof UsageError)) throw error
    // A restore cannot change a backup's layout, so a file in the root that names another one is refused as well.
    const problem = error.message.replace(folder, shownAs).replace(/ \(in a program: layout\).*$/, '')
    throw new UsageError(`nothing was restored: ${problem}`, { cause: error })
  }
}

/** The first path in a folder that is not one of the parts, nor inside one, nor above one. */
function firstOutside(folder: string, below: string, parts: readonly string[]): string | undefined {
  for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (parts.some((part) => path === part || path.startsWith(`${part}/`))) continue
    const isAbove = entry.isDirectory() && parts.some((part) => part.startsWith(`${path}/`))
    const other = isAbove ? firstOutside(folder, path, parts) : path
    if (other !== undefined) return other
  }
  return undefined
}

/** Whether nothing is there, or an empty folder. */
function isFree(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return !stats || (stats.isDirectory() && readdirSync(path).length === 0)
}

const notAsSaved = (path: string): MemoryError =>
  new MemoryError(
    `${path} is not what the backup holds: move it away, or name another --root`,
    MemoryErrorCode.CONFLICT,
  )

const occupied = (root: string): MemoryError =>
  new MemoryError(
    `${root} already holds a memory: move it away, or name another --root`,
    MemoryErrorCode.CONFLICT,
  )

/** A disk flushes many waiting files together in little more time than one. */
const syncsAtOnce = 16

/** Waits until everything below a folder is on disk. */
async function makeAllDurable(folder: string, onProgress: Progress['update']): Promise<void> {
  const paths = [
    folder,
    ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  ]
  const left = paths.entries()
  const syncNext = async (): Promise<void> => {
    for (const [done, path] of left) {
      onProgress({ done, total: paths.length })
      const isWindows = process.platform === 'win32'
      if (isWindows && !lstatSync(path).isFile()) continue
      // On other systems, waiting for a file needs no permission to write to it.
      const handle = await open(path, isWindows ? 'r+' : 'r')
      await handle.sync().finally(() => handle.close())
    }
  }
  await Promise.all(Array.from({ length: syncsAtOnce }, syncNext))
}

/**
 * Moves the staging folder to the root: by one rename if the root does not exist. Otherwise `memory` goes last, because
 * it marks a memory: if a restore stops before that, the next one accepts what was moved and continues.
 *
 * @throws MemoryError CONFLICT when the root holds something else under a name of the backup, or another restore was
 * faster
 */
function moveIn(staging: string, root: string): void {
  const move = (from: string, to: string): void => {
    try {
      // Only an empty folder may be there, and Windows does not rename a folder onto an existing one.
      if (existsSync(to)) rmdirSync(to)
      renamePatiently(from, to)
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw occupied(root)
      throw error
    }
  }
  if (!existsSync(root)) move(staging, root)
  else {
    const names = readdirSync(staging).sort((a, b) => Number(a === 'memory') - Number(b === 'memory'))
    const left = names.filter((name) => name === 'memory' || !existsSync(join(root, name)))
    for (const name of names) {
      if (left.includes(name) || isSame(join(staging, name), join(root, name))) continue
      throw notAsSaved(join(root, name))
    }
    for (const name of left) move(join(staging, name), join(root, name))
  }
  for (const path of [root, dirname(root)]) syncFolder(path)
}

/** Whether two files, or all files of two folders, are the same. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [lstatSync(one), lstatSync(other)]
  if (a.isFile() && b.isFile()) return a.size === b.size && readFileSync(one).equals(readFileSync(other))
  if (!a.isDirectory() || !b.isDirectory()) return false
  const names = readdirSync(one)
  return (
    names.length === readdirSync(other).length &&
    names.every((name) => existsSync(join(other, name)) && isSame(join(one, name), join(other, name)))
  )
}
