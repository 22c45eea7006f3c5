import { dirname, join } from 'node:path'
import { isMemoryError, MemoryError, MemoryErrorCode } from '@recall/core'
import { randomName } from './digest.ts'
import { errorCode, type FileSystem, orAbsent } from './file-system.ts'
import { isGone, place } from './process-identity.ts'

/** Unfinished files carry the id of the process that writes them, so that a dead one's can be swept. */
export const temporaryName = /^\.tmp-(\d+)-[0-9a-f]+$/

/**
 * Puts a whole file in place: temporary file beside it, fsync, rename, fsync of the folder. After a crash at
 * any point the old file or the new one is there, never a mixture; when this returns, the new one is.
 *
 * A failed fsync is never retried: the kernel may have dropped the pages, so the write is reported as failed.
 */
export function replaceFile(fileSystem: FileSystem, path: string, content: string | Uint8Array): void {
  const temporary = writeTemporary(fileSystem, path, content)
  orDiscard(fileSystem, temporary, () => fileSystem.renameSync(temporary, path))
  syncFolder(fileSystem, dirname(path))
}

/**
 * Like `replaceFile`, but only where no file has that name yet.
 *
 * @returns false, with nothing changed, when the name is taken
 */
export function createFile(fileSystem: FileSystem, path: string, content: string | Uint8Array): boolean {
  const temporary = writeTemporary(fileSystem, path, content)
  try {
    fileSystem.linkSync(temporary, path)
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  } finally {
    discard(fileSystem, temporary)
  }
  syncFolder(fileSystem, dirname(path))
  return true
}

/** Writes a file of its own beside `path`, durable, and returns its name. */
export function writeTemporary(fileSystem: FileSystem, path: string, content: string | Uint8Array): string {
  const temporary = join(dirname(path), `.tmp-${process.pid}-${randomName()}`)
  const descriptor = fileSystem.openSync(temporary, 'wx', 0o666)
  orDiscard(fileSystem, temporary, () => {
    try {
      writeAll(fileSystem, descriptor, typeof content === 'string' ? Buffer.from(content) : content)
      fileSystem.fsyncSync(descriptor)
    } finally {
      fileSystem.closeSync(descriptor)
    }
  })
  return temporary
}

/** Adds text to the end of a file with one write, and makes it durable. */
export function appendDurably(fileSystem: FileSystem, path: string, text: string): void {
  const descriptor = fileSystem.openSync(path, 'a')
  try {
    writeAll(fileSystem, descriptor, Buffer.from(text))
    fileSystem.fsyncSync(descriptor)
  } finally {
    fileSystem.closeSync(descriptor)
  }
}

/** @returns false when there was nothing to remove */
export function removeFile(fileSystem: FileSystem, path: string): boolean {
  try {
    fileSystem.unlinkSync(path)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw error
  }
  syncFolder(fileSystem, dirname(path))
  return true
}

/** Makes the names in a folder durable. Windows cannot open folders and needs no such call. */
export function syncFolder(fileSystem: FileSystem, folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = fileSystem.openSync(folder, 'r')
  try {
    fileSystem.fsyncSync(descriptor)
  } finally {
    fileSystem.closeSync(descriptor)
  }
}

/** Creates a folder and makes its name durable; does nothing when it exists. */
export function ensureFolder(fileSystem: FileSystem, folder: string): void {
  if (fileSystem.existsSync(folder)) return
  const first = fileSystem.mkdirSync(folder, { recursive: true })
  if (first !== undefined) syncFolder(fileSystem, dirname(first))
}

function writeAll(fileSystem: FileSystem, descriptor: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) {
    written += fileSystem.writeSync(descriptor, bytes, written, bytes.length - written)
  }
}

function orDiscard(fileSystem: FileSystem, temporary: string, call: () => void): void {
  try {
    call()
  } catch (error) {
    discard(fileSystem, temporary)
    throw error
  }
}

/** Best effort: what stays behind carries our process id and is swept later. */
function discard(fileSystem: FileSystem, temporary: string): void {
  try {
    fileSystem.unlinkSync(temporary)
  } catch {}
}
