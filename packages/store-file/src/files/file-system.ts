import nodeFileSystem from 'node:fs'
import { dirname } from 'node:path'
import { isMemoryError, MemoryError, MemoryErrorCode } from '@recall/core'
import { errorCode, orAbsent, renamePatiently } from '@recall/core/process'

/**
 * The synchronous calls this store makes, injected so that tests can fail or kill at every one of them.
 * Synchronous because a walk over 100,000 files is 2.3 times faster that way, and because a critical section
 * without `await` cannot be interleaved within a process.
 */
export type FileSystem = Pick<
  typeof nodeFileSystem,
  | 'accessSync'
  | 'closeSync'
  | 'existsSync'
  | 'fchmodSync'
  | 'fstatSync'
  | 'fsyncSync'
  | 'ftruncateSync'
  | 'futimesSync'
  | 'linkSync'
  | 'lstatSync'
  | 'mkdirSync'
  | 'opendirSync'
  | 'openSync'
  | 'readdirSync'
  | 'readFileSync'
  | 'readSync'
  | 'realpathSync'
  | 'renameSync'
  | 'statfsSync'
  | 'unlinkSync'
  | 'writeSync'
>

export const defaultFileSystem: FileSystem =
  process.platform === 'win32' ? { ...nodeFileSystem, renameSync: renamePatiently } : nodeFileSystem

const { O_CREAT, O_WRONLY } = nodeFileSystem.constants

/** The call's result; failures of the operating system at a root become a readable sentence. */
export function orUnusable<T>(root: string, call: () => T): T {
  try {
    return call()
  } catch (cause) {
    const code = errorCode(cause)
    if (isMemoryError(cause) || code === undefined) throw cause
    throw new MemoryError(
      `${root} cannot be read as a memory (${code}): check who may read it, or name another root`,
      MemoryErrorCode.UNAVAILABLE,
      { cause, details: { path: root } },
    )
  }
}

/**
 * The call's result; failures of the operating system at a path become a sentence that says what to do. An absent file
 * is the caller's affair.
 *
 * @throws MemoryError UNAVAILABLE
 */
export function reading<T>(fileSystem: FileSystem, path: string, call: () => T): T {
  try {
    return call()
  } catch (cause) {
    const code = errorCode(cause)
    if (isMemoryError(cause) || code === undefined || code === 'ENOENT') throw cause
    throw unreadable(fileSystem, path, cause)
  }
}

export function unreadable(fileSystem: FileSystem, path: string, cause: unknown): MemoryError {
  const code = errorCode(cause)
  const message =
    code === 'ENOTDIR'
      ? `${fileInTheWay(fileSystem, path)} is a file, and has to be a folder: move it away, and the folder is created again`
      : `${path} cannot be read (${code ?? cause}): check that this user may read there`
  return new MemoryError(message, MemoryErrorCode.UNAVAILABLE, { cause, details: { path } })
}

/** Which part of a path is a file. */
function fileInTheWay(fileSystem: FileSystem, path: string): string {
  for (let at = path; dirname(at) !== at; at = dirname(at)) {
    try {
      if (fileSystem.lstatSync(at, { throwIfNoEntry: false })) return at
    } catch (error) {
      if (errorCode(error) !== 'ENOTDIR') return path
    }
  }
  return path
}

/**
 * What is at a path, without following links; `null` when there is nothing. Avoids the error, which takes longer than
 * the look-up.
 */
export const statusOf = (fileSystem: FileSystem, path: string): nodeFileSystem.Stats | null =>
  reading(fileSystem, path, () => orAbsent(() => fileSystem.lstatSync(path, { throwIfNoEntry: false }))) ??
  null

/** The names in a folder; `null` when there is none. */
export const namesIn = (fileSystem: FileSystem, folder: string): string[] | null =>
  reading(fileSystem, folder, () => orAbsent(() => fileSystem.readdirSync(folder, 'utf8')))

/** The same with what each of them is. */
export const entriesIn = (fileSystem: FileSystem, folder: string): nodeFileSystem.Dirent[] | null =>
  reading(fileSystem, folder, () => orAbsent(() => fileSystem.readdirSync(folder, { withFileTypes: true })))

/**
 * Writes a note that a crash may tear; its reader then treats it as missing. Writes in place: if a file is emptied
 * first, ext4 flushes it to disk on closing, which takes as long as a durable write.
 */
export function overwriteInPlace(fileSystem: FileSystem, path: string, note: string): void {
  const bytes = Buffer.from(note)
  const descriptor = fileSystem.openSync(path, O_WRONLY | O_CREAT)
  try {
    fileSystem.writeSync(descriptor, bytes, 0, bytes.length, 0)
    fileSystem.ftruncateSync(descriptor, bytes.length)
  } finally {
    fileSystem.closeSync(descriptor)
  }
}
