import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { defaultFileSystem, layoutFile, layouts, layoutsOf } from '@recall/store-file'
import { create, extract } from 'tar'
import { isDerived } from '../derived-files.ts'
import { UsageError } from '../exit-codes.ts'
import { findRoot, type RootOptions } from '../find-root.ts'
import { formatBytes } from '../format.ts'
import type { Io } from '../io.ts'
import { type Progress, withProgress } from '../progress.ts'
import { withStore } from '../with-store.ts'

export async function backup(
  io: Io,
  file: string,
  options: RootOptions & { json?: boolean },
): Promise<undefined> {
  const target = resolve(io.cwd, file)
  const present = statSync(target, { throwIfNoEntry: false })
  if (present?.isDirectory()) throw new UsageError(`${target} is a folder: name a file in it`)
  // A backup takes the place of what has its name.
  if (present && !present.isFile()) throw new UsageError(`${target} is a device or a pipe: name a file`)
  if (!existsSync(dirname(target))) throw new UsageError(`the folder ${dirname(target)} does not exist`)
  return withStore(io, options, async (store) => {
    const { root, layout } = store
    const parts = [
      ...new Set([layoutFile, layout.memory, layout.window, layout.archiveIndex, layout.archives]),
    ]
      .filter((path) => existsSync(join(root, path)))
      .filter((path) => path === layout.memory || !path.startsWith(`${layout.memory}/`))
    for (const path of [layout.memory, ...layoutsOf(defaultFileSystem, root).map(({ archives }) => archives)])
      if (isLink(join(root, path))) throw leadsElsewhere(join(root, path))
    removeAbandoned(target, unfinishedMark)
    const unfinished = ownName(target, unfinishedMark)
    const uncompressed = `${unfinished}.tar`
    const own = `${layout.internal}/`
    const isLeftOut = (path: string): boolean =>
      join(root, path) === target ||
      join(root, path).startsWith(`${target}${unfinishedMark}`) ||
      basename(path).startsWith('.tmp-') ||
      (path.startsWith(own) && (isDerived(path.slice(own.length)) || path === `${own}journal.json`))
    let files = 0
    let bytes = 0
    try {
      // Only its user may read a memory, and so a copy of it.
      for (const path of [unfinished, uncompressed]) {
        closeSync(openSync(path, 'wx', 0o600))
        chmodSync(path, 0o600)
      }
      // Under the lock, so that the files of a session are saved together or not at all; compressed only after it,
      // because that takes as long again, and who writes meanwhile waits.
      store.exclusively(() => {
        create(
          {
            cwd: root,
            file: uncompressed,
            sync: true,
            portable: true,
            filter: (path, stat) => {
              if (isLeftOut(path)) return false
              const problem = whyNotSaved(join(root, path))
              if (problem) {
                io.err(`recall: ${path} ${problem}\n`)
                return false
              }
              if ('size' in stat && 'isFile' in stat && stat.isFile()) {
                files++
                bytes += stat.size
              }
              return true
            },
          },
          parts,
        )
      })
      await pipeline(createReadStream(uncompressed), createGzip(), createWriteStream(unfinished))
      rmSync(uncompressed)
      // The user may delete the original as soon as the backup is reported, so it must be on disk.
      makeDurable(unfinished, 'r+')
      renameSync(unfinished, target)
      if (process.platform !== 'win32') makeDurable(dirname(target), 'r')
    } catch (cause) {
      for (const path of [unfinished, uncompressed]) rmSync(path, { force: true })
      throw new MemoryError(
        `${target} could not be written: ${(cause as Error).message}`,
        MemoryErrorCode.WRITE_FAILED,
        { cause },
      )
    }
    if (options.json) io.out(`${JSON.stringify({ file: target, files, bytes })}\n`)
    else io.out(`${target}: ${files} files, ${formatBytes(bytes)} before compression\n`)
    return undefined
  })
}

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

/** Why something in a memory cannot be in its backup; `undefined` for files and folders. */
function whyNotSaved(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isSymbolicLink()) return 'is a link and was left out: put what it leads to in its place'
  if (!stats || stats.isFile() || stats.isDirectory()) return undefined
  return 'is a pipe, a socket or a device and was left out'
}

const leadsElsewhere = (path: string): MemoryError =>
  new MemoryError(
    `${path} is a link, and a backup would not hold what it leads to: replace the link by the real folder`,
    MemoryErrorCode.FORBIDDEN,
  )

function makeDurable(path: string, flags: string): void {
  const descriptor = openSync(path, flags)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

export async function restore(
  io: Io,
  file: string,
  options: RootOptions & { json?: boolean },
): Promise<undefined> {
  const source = resolve(io.cwd, file)
  if (!existsSync(source)) throw new MemoryError(`${source} does not exist`, MemoryErrorCode.NOT_FOUND)
  const root = findRoot(io, options)
  if (existsSync(join(root, 'memory')) && readdirSync(join(root, 'memory')).length > 0) throw occupied(root)
  mkdirSync(dirname(root), { recursive: true })
  // Unpacks beside the root and renames at the end, so that a failed restore leaves nothing half-done. In a root that
  // exists it does so inside, because that may be a disk of its own.
  const inside = join(root, 'memory')
  removeAbandoned(root, stagingMark)
  if (existsSync(root)) removeAbandoned(inside, stagingMark)
  const staging = ownName(existsSync(root) ? inside : root, stagingMark)
  // It becomes the root, which is private to its user.
  mkdirSync(staging, { mode: 0o700 })
  try {
    await extract({ file: source, cwd: staging, strict: true, preservePaths: false }).catch((cause) => {
      throw new MemoryError(
        `${source} is no whole backup, nothing was restored: ${(cause as Error).message}`,
        MemoryErrorCode.CORRUPTION,
        { cause },
      )
    })
    if (!holdsMemory(staging)) {
      throw new MemoryError(
        `${source} is no backup of a memory, nothing was restored: it has no folder memory`,
        MemoryErrorCode.INVALID_INPUT,
      )
    }
    await withProgress(io, { what: 'restoring' }, ({ update }) => makeAllDurable(staging, update))
    moveIn(staging, root)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
  const documents = await withStore(io, { ...options, root }, async (store) => {
    await withProgress(io, { what: 'indexing' }, ({ update }) =>
      store.reindex({ full: true, onProgress: update }),
    )
    return store.index.asIs().countDocuments()
  })
  if (options.json) io.out(`${JSON.stringify({ root, documents })}\n`)
  else io.out(`Restored ${documents} entries to ${root}\n`)
  return undefined
}

const holdsMemory = (folder: string): boolean =>
  Object.values(layouts).some(({ memory }) =>
    statSync(join(folder, memory), { throwIfNoEntry: false })?.isDirectory(),
  )

const occupied = (root: string): MemoryError =>
  new MemoryError(
    `${root} already holds a memory: move it away, or name another --root`,
    MemoryErrorCode.CONFLICT,
  )

const unfinishedMark = '.unfinished-'
const stagingMark = '.restoring-'

/** A name beside a path that no other backup or restore takes, and that says which process does. */
const ownName = (path: string, mark: string): string =>
  `${path}${mark}${process.pid}-${randomBytes(4).toString('hex')}`

/** Removes what backups and restores that were killed left beside a path. */
function removeAbandoned(path: string, mark: string): void {
  const prefix = `${basename(path)}${mark}`
  for (const name of readdirSync(dirname(path))) {
    const pid =
      name.startsWith(prefix) && /^(\d+)(?:-[0-9a-f]{8}(?:\.tar)?)?$/.exec(name.slice(prefix.length))?.[1]
    if (pid && !isAlive(Number(pid))) rmSync(join(dirname(path), name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** A disk takes many files that wait for it together in little more time than one. */
const syncsAtOnce = 16

/** Waits until everything below a folder is on the disk. */
async function makeAllDurable(folder: string, onProgress: Progress['update']): Promise<void> {
  const paths = [
    folder,
    ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  ]
  const left = paths.entries()
  const syncNext = async (): Promise<void> => {
    for (const [done, path] of left) {
      onProgress({ done, total: paths.length })
      const isFile = lstatSync(path).isFile()
      if (!isFile && process.platform === 'win32') continue
      const handle = await open(path, isFile ? 'r+' : 'r')
      await handle.sync().finally(() => handle.close())
    }
  }
  await Promise.all(Array.from({ length: syncsAtOnce }, syncNext))
}

/**
 * Moves the staging folder to the root: by one rename if the root does not exist. Otherwise `memory` goes last,
 * because it marks a memory: if a restore stops before that, the next one accepts what it has moved and continues.
 *
 * @throws MemoryError CONFLICT when the root holds something else under a name of the backup, or another restore was
 * faster
 */
function moveIn(staging: string, root: string): void {
  const move = (from: string, to: string): void => {
    try {
      renameSync(from, to)
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
      throw new MemoryError(
        `${join(root, name)} is not what the backup holds: move it away, or name another --root`,
        MemoryErrorCode.CONFLICT,
      )
    }
    // `memory` is empty if it exists, so it can be replaced.
    for (const name of left) move(join(staging, name), join(root, name))
  }
  if (process.platform !== 'win32') for (const path of [root, dirname(root)]) makeDurable(path, 'r')
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
