import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  type Stats,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { hasEnded, renamePatiently, writeNewFile } from '@recall/core/process'
import { CannotEdit } from './target.ts'

/**
 * The bytes of a file, or `null` when there is none. Symbolic links are followed.
 *
 * @throws CannotEdit for a dangling link, which a new file would replace, and for a path below one
 */
export function readBytes(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    if (!leadsNowhere(path)) return null
    throw new CannotEdit('it is a link to a file that does not exist, or lies below a link to such a folder')
  }
}

/** Whether a path is a dangling symbolic link, or lies below one. */
export function leadsNowhere(path: string): boolean {
  const [outermost] = missingFolders(path)
  return outermost !== undefined && kindOf(outermost)?.isSymbolicLink() === true
}

/** What exists under a name; links are not followed. */
function kindOf(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    return undefined
  }
}

export const digest = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

/** The levels of a folder that do not exist, the outermost first. */
export function missingFolders(path: string): string[] {
  const missing: string[] = []
  for (let level = path; !existsSync(level); level = dirname(level)) missing.unshift(level)
  return missing
}

/**
 * Replaces a file atomically: after a crash it is the old or the new one. A link stays a link, a file keeps its mode,
 * and only the owner can read a new file.
 *
 * @param before what the file is expected to hold, `null` for no file; default: anything
 * @throws ChangedMeanwhile when it holds something else, such as what its host has just written
 */
export function replaceBytes(path: string, bytes: Buffer | string, before?: Buffer | null): void {
  const target = existsSync(path) ? realpathSync(path) : path
  const mode = existsSync(target) ? lstatSync(target).mode & 0o777 : 0o600
  const temporary = join(dirname(target), `.recall-${process.pid}-${randomBytes(4).toString('hex')}.tmp`)
  writeNewFile(temporary, bytes, mode)
  try {
    if (before !== undefined) requireUnchanged(path, before)
    renamePatiently(temporary, target)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/**
 * Removes unfinished files that killed processes left in a folder: they may be copies of settings with a key in them.
 */
export function removeUnfinished(folder: string): void {
  for (const name of namesIn(folder)) {
    const [, pid] = /^\.recall-(\d+)-[0-9a-f]{8}\.tmp$/.exec(name) ?? []
    if (pid !== undefined && hasEnded(Number(pid))) rmSync(join(folder, name), { force: true })
  }
}

/** In a folder that cannot be read, we have written nothing. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Somebody else wrote a file after it was read. */
class ChangedMeanwhile extends Error {
  override readonly name = 'ChangedMeanwhile'
}

function requireUnchanged(path: string, before: Buffer | null): void {
  const now = readBytes(path)
  const isSame = before === null || now === null ? before === now : before.equals(now)
  if (!isSame) throw new ChangedMeanwhile(`${path} was changed by another program`)
}

/**
 * Removes the folders that are empty, the innermost first; the others stay. So does a link: a person has moved the
 * folder to another place.
 */
export function removeEmpty(folders: readonly string[]): void {
  for (const folder of [...folders].sort((a, b) => b.length - a.length)) {
    if (!kindOf(folder)?.isDirectory()) continue
    try {
      rmdirSync(folder)
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
  }
}
