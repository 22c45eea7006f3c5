import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import {
  createFolder,
  orAbsent,
  refusesHardLinks,
  renamePatiently,
  syncFolder,
  writeNewFile,
  writing,
} from '@recall/core/process'

/** Links are not followed, and opening a pipe of that name does not block. */
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
/** Windows follows every link that it opens. */
const followsLinks = constants.O_NOFOLLOW === undefined

/**
 * The exact text of a file; an unreadable file is never taken for an empty one.
 *
 * @returns `null` when there is no such file
 * @throws MemoryError CORRUPTION when it is not UTF-8, FORBIDDEN when it is a link, UNAVAILABLE when it cannot be read
 */
export function readText(path: string): string | null {
  const bytes = readFile(path)
  if (bytes === null) return null
  if (isUtf8(bytes)) return bytes.toString('utf8')
  throw new MemoryError(
    `${path} is not UTF-8 text: it was left as it is; convert it, or move it away`,
    MemoryErrorCode.CORRUPTION,
    { details: { path } },
  )
}

/** Like `readText`, for a file of our own: one that is not UTF-8 is damaged, and says as little as an empty one. */
export function readOwnText(path: string): string | null {
  const bytes = readFile(path)
  if (bytes === null) return null
  return isUtf8(bytes) ? bytes.toString('utf8') : ''
}

function readFile(path: string): Buffer | null {
  try {
    return orAbsent(() => readBytes(path))
  } catch (cause) {
    const isLink = (cause as NodeJS.ErrnoException).code === 'ELOOP'
    throw new MemoryError(
      isLink
        ? `${path} is a link, which is not followed: put the file itself there`
        : `${path} cannot be read: ${(cause as Error).message}`,
      isLink ? MemoryErrorCode.FORBIDDEN : MemoryErrorCode.UNAVAILABLE,
      { cause, details: { path } },
    )
  }
}

export const namesIn = (folder: string): string[] => (orAbsent(() => readdirSync(folder)) ?? []).sort()

function readBytes(path: string): Buffer {
  if (followsLinks && lstatSync(path).isSymbolicLink())
    throw Object.assign(new Error('ELOOP: symbolic link'), { code: 'ELOOP' })
  const descriptor = openSync(path, readFlags)
  try {
    return readFileSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Replaces a file atomically and durably: temporary file next to it, fsync, rename, fsync of the folder.
 *
 * @throws MemoryError WRITE_FAILED naming the path
 */
export function replaceFile(path: string, content: string): void {
  writing(path, () => {
    ensureFolder(dirname(path))
    const temporary = writeTemporary(path, content)
    try {
      renamePatiently(temporary, path)
    } catch (error) {
      orAbsent(() => unlinkSync(temporary))
      throw error
    }
    syncFolder(dirname(path))
  })
}

/**
 * Creates a file durably, and atomically where there are hard links.
 *
 * @returns false, with nothing changed, when the name is taken
 */
export function createFile(path: string, content: string): boolean {
  return writing(path, () => {
    ensureFolder(dirname(path))
    try {
      placeNew(path, content)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
    syncFolder(dirname(path))
    return true
  })
}

/** Without hard links others see the file before it is complete, but it never replaces another one. */
function placeNew(path: string, content: string): void {
  const temporary = writeTemporary(path, content)
  try {
    linkSync(temporary, path)
  } catch (error) {
    if (!refusesHardLinks(error)) throw error
    writeNewFile(path, content)
  } finally {
    orAbsent(() => unlinkSync(temporary))
  }
}

export function removeFile(path: string): void {
  writing(path, () => {
    orAbsent(() => unlinkSync(path))
    if (existsSync(dirname(path))) syncFolder(dirname(path))
  })
}

function writeTemporary(path: string, content: string): string {
  const temporary = join(dirname(path), `.tmp-${process.pid}-${randomBytes(6).toString('hex')}`)
  const earlier = orAbsent(() => lstatSync(path))
  writeNewFile(temporary, content, earlier ? earlier.mode & 0o777 : undefined)
  return temporary
}

/** Creates a folder and makes its name durable; does nothing when it exists. */
function ensureFolder(folder: string): void {
  if (existsSync(folder)) return
  const above = dirname(folder)
  // A drive has nothing above it.
  if (above !== folder) ensureFolder(above)
  createFolder(folder)
  syncFolder(above)
}
