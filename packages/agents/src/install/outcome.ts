import { isUtf8 } from 'node:buffer'
import { resolve } from 'node:path'
import type { Wired } from './receipt.ts'
import { CannotEdit, type FileEdit } from './target.ts'
import { isBlank } from './text-shape.ts'

export interface FileOutcome {
  path: string
  /**
   * - `created`, `changed`, `kept` (it already was as it should be): by `install`
   * - `restored` (byte for byte as before), `removed`, `edited` (only our part was removed), `absent`: by `uninstall`
   * - `refused`: left alone, `reason` says why and `byHand` what a person can do
   */
  status: 'created' | 'changed' | 'kept' | 'restored' | 'removed' | 'edited' | 'absent' | 'refused'
  reason?: string
  byHand?: string
  /** Set for a refused file that would be entirely ours, that somebody else wrote, and that `replace` would replace. */
  replaceable?: true
  /** Folder that keeps the original bytes. */
  backup?: string
}

export interface InstallOptions {
  /** Folder for receipts and backups; each installation has a folder of its own in it. */
  state: string
  /** Report what would happen without changing anything. */
  dryRun?: boolean | undefined
  /** Paths of files that a person lets `install` replace; `uninstall` restores their bytes. */
  replace?: readonly string[] | undefined
  /** The settings that `install` makes the edits from; recorded for `wiredIn`. */
  wired?: Wired | undefined
}

/** A host's folder may be given relative to the working folder, and uninstalled from another one. */
export const atFullPath = (edit: FileEdit): FileEdit => ({ ...edit, path: resolve(edit.path) })

export function textOf(bytes: Buffer | null): string | null {
  if (bytes === null) return null
  if (!isUtf8(bytes)) throw new CannotEdit('it is not UTF-8 text')
  return bytes.toString('utf8')
}

/**
 * The content of a file that holds only our part once that is removed; `null` for no file. If it existed before the
 * installation it is not removed; its earlier content does not come back, because somebody has removed it since.
 */
export function contentOnceEmptied({ own, empty = '' }: FileEdit, original: Buffer | null): Buffer | null {
  const comesBack = original === null || own || isBlank(original.toString('utf8'))
  return comesBack ? original : Buffer.from(empty)
}

/** How often to read a file again that its host is just writing. */
const mostTries = 10

/** The outcome of a change, or of refusing it because the file cannot be edited or written. */
export function orRefused(path: string, byHand: string, change: () => FileOutcome): FileOutcome {
  for (let tries = 1; ; tries++) {
    try {
      return change()
    } catch (error) {
      // By name: a custom target may bring its own copy of these classes.
      const { name, message, code } = error as NodeJS.ErrnoException
      if (name === 'ChangedMeanwhile' && tries < mostTries) continue
      if (!['CannotEdit', 'ChangedMeanwhile'].includes(name) && code === undefined) throw error
      return { path, status: 'refused', reason: message, byHand }
    }
  }
}
