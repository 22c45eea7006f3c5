import {
  chmodSync,
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip, gunzipSync } from 'node:zlib'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { renamePatiently, syncFile, syncFolder } from '@recall/core/process'
import { defaultFileSystem, type FileStore, layoutFile, layouts, layoutsOf } from '@recall/store-file'
import { create, Header, type ReadEntry, replace } from 'tar'
import { UsageError } from '../exit-codes.ts'
import { isLeftOut } from '../memory/derived-files.ts'
import type { RootOptions } from '../memory/find-root.ts'
import { behindLinks, ownName, removeAbandoned, removedIfEnded } from '../memory/unfinished.ts'
import { withStore } from '../memory/with-store.ts'
import { count, formatBytes } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'

const unfinishedMark = '.unfinished-'

/** Saves the memory to one compressed file, which replaces an earlier backup only when it is complete. */
export async function backup(
  io: Io,
  file: string,
  options: RootOptions & { json?: boolean },
): Promise<undefined> {
  if (file === '-') throw new UsageError("a backup is a file: '-' names none, and a file of that name is ./-")
  const target = resolve(io.cwd, file)
  refuseUnlessBackup(target)
  return withStore(io, options, async (store) => {
    refuseLinks(store)
    const { files, bytes } = await save(io, store, behindLinks(target))
    if (options.json) io.out(`${JSON.stringify({ file: target, files, bytes })}\n`)
    else io.out(`${target}: ${count(files, 'file')}, ${formatBytes(bytes)} before compression\n`)
    return undefined
  })
}

/** @throws UsageError when nothing can be saved there, or the present file is not a backup */
function refuseUnlessBackup(target: string): void {
  const present = statSync(target, { throwIfNoEntry: false })
  if (present?.isDirectory()) throw new UsageError(`${target} is a folder: name a file in it`)
  if (present && !present.isFile()) throw new UsageError(`${target} is a device or a pipe: name a file`)
  if (present && !mayBeReplaced(target)) throw new UsageError(`${target} is not a backup: name another file`)
  if (!existsSync(dirname(target)))
    throw new UsageError(`the folder ${dirname(target)} does not exist: make it first`)
}

/** @throws MemoryError FORBIDDEN when a folder of the memory is a link, whose target would not be saved */
function refuseLinks({ root, layout }: FileStore): void {
  const archives = layoutsOf(defaultFileSystem, root).map((each) => each.archives)
  const link = [layout.memory, ...archives].map((path) => join(root, path)).find(isLink)
  if (link === undefined) return
  throw new MemoryError(
    `${link} is a link, and a backup would not hold its target: replace the link by the real folder`,
    MemoryErrorCode.FORBIDDEN,
  )
}

async function save(io: Io, store: FileStore, target: string): Promise<Packed> {
  // The store uses real paths, and a link may lead into its folders.
  const real = join(realpathSync.native(dirname(target)), basename(target))
  const isBackup = (path: string): boolean =>
    join(store.root, path) === real || join(store.root, path).startsWith(`${real}${unfinishedMark}`)
  removeAbandoned(target, unfinishedMark)
  const unfinished = ownName(target, unfinishedMark)
  const uncompressed = `${unfinished}.tar`
  const paths = [unfinished, uncompressed]
  try {
    return await removedIfEnded(io, { paths, told: 'nothing was saved' }, async () => {
      for (const path of paths) createPrivately(path)
      // Packed under the lock, so that the files of a session are saved together or not at all; compressed only
      // afterwards, because that takes as long again, and writers would wait meanwhile.
      const packed = store.exclusively(() => untilNothingGoes(() => pack(store, uncompressed, isBackup)))
      for (const each of packed.leftOut) io.err(`recall: ${each}\n`)
      // The file exists, and must not be created again if it was removed.
      const compressed = createWriteStream(unfinished, { flags: 'r+' })
      await pipeline(createReadStream(uncompressed), createGzip(), compressed)
      rmSync(uncompressed)
      // The user may delete the original as soon as the backup is reported, so it must be on disk.
      syncFile(unfinished)
      renamePatiently(unfinished, target)
      syncFolder(dirname(target))
      return packed
    })
  } catch (cause) {
    for (const path of paths) rmSync(path, { force: true })
    throw new MemoryError(
      `${target} could not be written: ${inWords(cause as NodeJS.ErrnoException)}`,
      MemoryErrorCode.WRITE_FAILED,
      { cause },
    )
  }
}

/** Only its user may read a memory, and therefore a copy of it. */
function createPrivately(path: string): void {
  closeSync(openSync(path, 'wx', 0o600))
  chmodSync(path, 0o600)
}

/** Whether a file is an earlier backup, or empty, as when its name was only reserved. */
function mayBeReplaced(path: string): boolean {
  const beginning = beginningOf(path)
  return beginning.length === 0 || beginsABackup(beginning)
}

function beginningOf(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const beginning = Buffer.alloc(64 * 1024)
    return beginning.subarray(0, readSync(file, beginning))
  } finally {
    closeSync(file)
  }
}

/** Whether these bytes begin an archive whose first part is one that only a memory has. */
function beginsABackup(compressed: Buffer): boolean {
  try {
    const beginning = gunzipSync(compressed, { finishFlush: constants.Z_SYNC_FLUSH })
    const { path, cksumValid } = new Header(beginning)
    return cksumValid && (path === layoutFile || path === `${layouts.entity.memory}/`)
  } catch {
    return false
  }
}

const mostAttempts = 5

/**
 * Calls again when a file disappeared between being listed and being read. The lock keeps writers of the memory away,
 * but not a person who deletes a note by hand, nor the log of a process that only reads.
 */
function untilNothingGoes<T>(call: () => T): T {
  for (let attempt = 1; ; attempt++) {
    try {
      return call()
    } catch (error) {
      const { code, path } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' || isMisread(path) || attempt === mostAttempts) throw error
    }
  }
}

interface Packed {
  files: number
  bytes: number
  /** What is not in the archive, each with the reason. */
  leftOut: string[]
}

/** Packs the parts of a memory into an archive. */
function pack(
  { root, layout, withoutCounting }: Pick<FileStore, 'root' | 'layout' | 'withoutCounting'>,
  file: string,
  isBackup: (path: string) => boolean,
): Packed {
  const places = [layoutFile, layout.memory, layout.window, layout.archiveIndex, layout.archives]
  const parts = [...new Set(places)]
    .filter((path) => existsSync(join(root, path)))
    .filter((path) => path === layout.memory || !path.startsWith(`${layout.memory}/`))
  const counts = ['access.db', 'access.db-wal'].map((name) => `${layout.internal}/${name}`)
  const packed: Packed = { files: 0, bytes: 0, leftOut: [] }
  const isTaken = (path: string, stat: Stats | ReadEntry): boolean => {
    if (isBackup(path) || isLeftOut(path)) return false
    const problem = whyNotSaved(join(root, path))
    if (problem) {
      packed.leftOut.push(`${path} ${problem}`)
      return false
    }
    if ('size' in stat && 'isFile' in stat && stat.isFile()) {
      packed.files++
      packed.bytes += stat.size
    }
    return true
  }
  const options = { cwd: root, file, sync: true, portable: true, linkCache: new NoLinks() } as const
  create({ ...options, filter: (path, stat) => !counts.includes(path) && isTaken(path, stat) }, parts)
  // Readers count their accesses without the lock, but in two files that are of use only together.
  withoutCounting(() => {
    const present = counts.filter((path) => existsSync(join(root, path)))
    if (present.length > 0) replace({ ...options, filter: isTaken }, present)
  })
  return packed
}

/** Saves a file with two names as two files: a link in an archive could lead anywhere, and is not restored. */
class NoLinks extends Map<never, string> {
  override get(): undefined {}
}

/** Node lists a name that is not UTF-8 with U+FFFD in it, and cannot open a file by that name. */
const isMisread = (path: string | undefined): boolean => path?.includes('\ufffd') === true

const inWords = ({ code, path, message }: NodeJS.ErrnoException): string =>
  code === 'ENOENT' && isMisread(path) ? `the name of ${path} is not UTF-8: rename it` : message

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

/** Few files in a memory are not markdown: only these are opened. */
const isEarlierBackup = (path: string): boolean => !path.endsWith('.md') && beginsABackup(beginningOf(path))

/** Why something in a memory is not saved to its backup; `undefined` if it is saved. */
function whyNotSaved(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isSymbolicLink()) return 'is a link and was left out: put its target in its place'
  if (!stats || stats.isDirectory()) return undefined
  if (stats.isFile()) return isEarlierBackup(path) ? 'is an earlier backup and was left out' : undefined
  return 'is a pipe, a socket or a device and was left out'
}
