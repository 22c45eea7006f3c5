import { createHash, randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { CannotEdit } from './target.ts'

/**
 * The bytes of a file, or `null` when there is none; a link is followed.
 *
 * @throws CannotEdit for a link that leads nowhere: what is written there would take its place
 */
export function readBytes(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    if (!leadsNowhere(path)) return null
    throw new CannotEdit('it is a link to a file that is not there')
  }
}

/** Whether a path is a link to what is not there. */
export const leadsNowhere = (path: string): boolean =>
  !existsSync(path) && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

export const digest = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

/** Creates a folder; returns the levels that were missing, the outermost first. */
export function createFolder(path: string): string[] {
  const missing: string[] = []
  for (let level = path; !existsSync(level); level = dirname(level)) missing.unshift(level)
  mkdirSync(path, { recursive: true })
  return missing
}

/**
 * Puts a whole file in place, or none: after a crash it is the old or the new one. A link stays a link, a file
 * keeps its mode, a new file is its owner's alone.
 */
export function replaceBytes(path: string, bytes: Buffer | string): void {
  const target = existsSync(path) ? realpathSync(path) : path
  const mode = existsSync(target) ? lstatSync(target).mode & 0o777 : 0o600
  const temporary = join(dirname(target), `.recall-${process.pid}-${randomBytes(4).toString('hex')}.tmp`)
  try {
    const descriptor = openSync(temporary, 'wx', mode)
    try {
      const content = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
      for (let done = 0; done < content.length; ) done += writeSync(descriptor, content, done)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(temporary, target)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Removes folders that are empty, the innermost first; others stay. */
export function removeEmpty(folders: readonly string[]): void {
  for (const folder of [...folders].sort((a, b) => b.length - a.length)) {
    try {
      rmdirSync(folder)
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? ''))
        throw error
    }
  }
}
