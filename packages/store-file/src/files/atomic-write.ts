import { dirname, join } from 'node:path'
import {
  errorCode,
  isGone,
  orAbsent,
  refusesHardLinks,
  syncFolder,
  thisProcess,
  writing,
} from '@recall/core/process'
import { randomName } from './digest.ts'
import { coarsestStepMs } from './file-stamp.ts'
import { type FileSystem, namesIn, statusOf } from './file-system.ts'

/**
 * The name of an unfinished file says which process writes it and where that runs, so that a dead one's can be swept.
 */
export const temporaryName = /^\.tmp-(\d+)-([0-9a-f]{8})[0-9a-f]+$/

/**
 * Puts a whole file in place: temporary file next to it, fsync, rename, fsync of the folder. After a crash at any point
 * the old file or the new one is there, never a mixture; when this returns, it is the new one.
 *
 * A failed fsync is never retried: the kernel may have dropped the pages, so the write is reported as failed.
 *
 * @throws MemoryError WRITE_FAILED naming the path
 */
export function replaceFile(
  fileSystem: FileSystem,
  path: string,
  content: string | Uint8Array,
  { verify = () => {}, exclusively = (move) => move(), source }: Placing = {},
): void {
  writing(path, () => {
    const temporary = writeTemporary(fileSystem, path, content, source)
    orDiscard(fileSystem, temporary, () => {
      exclusively(() => {
        verify()
        fileSystem.renameSync(temporary, path)
      })
    })
    syncFolder(dirname(path), fileSystem)
  })
}

/** What runs while a file, whose content is durable by then, is moved into place. */
export interface Placing {
  /** Runs just before the move; throwing stops it. */
  verify?: () => void
  /** Runs the check and the move while no other process runs its own: waiting for the disk needs no lock. */
  exclusively?: (move: () => void) => void
  /** Where the content of a new file comes from: the new file is no more readable than that. */
  source?: string | undefined
}

/**
 * Like `replaceFile`, but only where no file has that name yet.
 *
 * @returns false, with nothing changed, when the name is taken, or when the file system has no hard links and cannot
 * tell: then the caller needs a lock
 */
export function createFile(
  fileSystem: FileSystem,
  path: string,
  content: string | Uint8Array,
  { exclusively = (move) => move(), source }: Pick<Placing, 'exclusively' | 'source'> = {},
): boolean {
  return writing(path, () => {
    const temporary = writeTemporary(fileSystem, path, content, source)
    try {
      exclusively(() => fileSystem.linkSync(temporary, path))
    } catch (error) {
      if (errorCode(error) === 'EEXIST' || refusesHardLinks(error)) return false
      throw error
    } finally {
      discard(fileSystem, temporary)
    }
    syncFolder(dirname(path), fileSystem)
    return true
  })
}

/**
 * Writes a separate file next to `path`, durable and no more readable than `path` is; returns its name.
 *
 * @param content may come in pieces; each is written before the next is requested
 * @param source where the content of a new file comes from: the new file is no more readable than that
 */
export function writeTemporary(
  fileSystem: FileSystem,
  path: string,
  content: string | Uint8Array | Generator<Uint8Array>,
  source?: string,
): string {
  const temporary = join(dirname(path), `.tmp-${process.pid}-${thisProcess().place}${randomName()}`)
  const earlier = statusOf(fileSystem, path)
  const known = earlier ?? (source === undefined ? null : statusOf(fileSystem, source))
  const mode = known?.isFile() ? known.mode : 0o666
  const descriptor = fileSystem.openSync(temporary, 'wx', mode & 0o777)
  orDiscard(fileSystem, temporary, () => {
    try {
      if (earlier?.isFile()) keepMode(fileSystem, descriptor, earlier.mode)
      for (const piece of piecesOf(content)) writeAll(fileSystem, descriptor, piece)
      if (earlier) dateAfter(fileSystem, descriptor, earlier.mtimeMs)
      fileSystem.fsyncSync(descriptor)
    } finally {
      fileSystem.closeSync(descriptor)
    }
  })
  return temporary
}

/** The umask may have removed the permission that others of a group need to write to a shared file. */
function keepMode(fileSystem: FileSystem, descriptor: number, mode: number): void {
  const isOther = ((fileSystem.fstatSync(descriptor).mode ^ mode) & 0o777) !== 0
  if (isOther) fileSystem.fchmodSync(descriptor, mode & 0o777)
}

/** A shared file uses its time, in whole milliseconds, as its version: two successive texts never have the same. */
function dateAfter(fileSystem: FileSystem, descriptor: number, earlierMs: number): void {
  const least = Math.round(earlierMs) + 1
  const isLater = (): boolean => Math.round(fileSystem.fstatSync(descriptor).mtimeMs) >= least
  const date = (ms: number): void => fileSystem.futimesSync(descriptor, ms / 1000, ms / 1000)
  if (isLater()) return
  date(least)
  if (!isLater()) date(earlierMs + coarsestStepMs)
}

/** Whether an unfinished file was left behind by a dead process. */
export function isLeftover(fileSystem: FileSystem, folder: string, name: string): boolean {
  const [, pid, place = ''] = temporaryName.exec(name) ?? []
  const isOwn = Number(pid) === process.pid && place === thisProcess().place
  if (pid === undefined || isOwn) return false
  const written = (): number => statusOf(fileSystem, join(folder, name))?.mtimeMs ?? Date.now()
  return isGone({ pid: Number(pid), started: 0, place }, written)
}

/** Removes what dead processes left unfinished in a folder. */
export function sweepLeftovers(fileSystem: FileSystem, folder: string): void {
  for (const name of namesIn(fileSystem, folder) ?? []) {
    if (isLeftover(fileSystem, folder, name)) removeFile(fileSystem, join(folder, name))
  }
}

/** Adds text to the end of a file with one write, and makes it durable. */
export function appendDurably(fileSystem: FileSystem, path: string, text: string): void {
  writing(path, () => {
    const descriptor = fileSystem.openSync(path, 'a')
    try {
      writeAll(fileSystem, descriptor, Buffer.from(text))
      fileSystem.fsyncSync(descriptor)
    } finally {
      fileSystem.closeSync(descriptor)
    }
    syncFolder(dirname(path), fileSystem)
  })
}

/** @returns false when there was nothing to remove */
export function removeFile(fileSystem: FileSystem, path: string): boolean {
  return writing(path, () => {
    // `unlinkSync` returns nothing; `orAbsent` returns `null` for an absent file.
    if (orAbsent(() => fileSystem.unlinkSync(path)) === null) return false
    syncFolder(dirname(path), fileSystem)
    return true
  })
}

/** Removes those of the files that are there, and makes that durable folder by folder. */
export function removeFiles(fileSystem: FileSystem, paths: readonly string[]): void {
  for (const path of paths) writing(path, () => orAbsent(() => fileSystem.unlinkSync(path)))
  for (const folder of new Set(paths.map(dirname))) writing(folder, () => syncFolder(folder, fileSystem))
}

function piecesOf(content: string | Uint8Array | Generator<Uint8Array>): Iterable<Uint8Array> {
  if (typeof content === 'string') return [Buffer.from(content)]
  return content instanceof Uint8Array ? [content] : content
}

function writeAll(fileSystem: FileSystem, descriptor: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) {
    written += fileSystem.writeSync(descriptor, bytes, written, bytes.length - written)
  }
}

/** Runs a call that moves an unfinished file to its place; deletes the file when the call fails. */
export function orDiscard(fileSystem: FileSystem, temporary: string, call: () => void): void {
  try {
    call()
  } catch (error) {
    discard(fileSystem, temporary)
    throw error
  }
}

/** Best effort: a file left behind carries our process id and is swept later. */
function discard(fileSystem: FileSystem, temporary: string): void {
  try {
    fileSystem.unlinkSync(temporary)
  } catch {}
}
