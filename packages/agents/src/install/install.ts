import { dirname, join } from 'node:path'
import { createFolder } from '@recall/core/process'
import { missingFolders, readBytes, replaceBytes } from './files.ts'
import {
  atFullPath,
  contentOnceEmptied,
  type FileOutcome,
  type InstallOptions,
  orRefused,
  textOf,
} from './outcome.ts'
import { type OpenReceipt, openReceipt } from './receipt.ts'
import type { FileEdit } from './target.ts'

/**
 * Makes a target's changes. Doing it again changes nothing, or brings our part up to date. A file that cannot
 * be edited safely is left alone and reported as `refused`; the others are changed nevertheless.
 */
export function install(name: string, edits: readonly FileEdit[], options: InstallOptions): FileOutcome[] {
  const folder = join(options.state, name)
  const receipt = openReceipt(folder)
  const outcomes = edits.map(atFullPath).map((edit) =>
    orRefused(edit.path, edit.byHand, () => {
      const before = readBytes(edit.path)
      const text = textOf(before)
      const after = edit.add(text)
      if (text === after) return { path: edit.path, status: 'kept' }
      const isAnothers = edit.own && before !== null && !receipt.wrote(edit.path, before)
      if (isAnothers && !options.replace?.includes(edit.path)) return refusalToReplace(edit)
      const outcome: FileOutcome = {
        path: edit.path,
        status: before === null ? 'created' : 'changed',
        ...(before === null ? {} : { backup: folder }),
      }
      if (options.dryRun) return outcome
      receipt.note(edit.path, { original: bytesToRestore(edit, receipt, before), before, after })
      // Recorded first, so that a process that is killed in between leaves no folder that nobody removes.
      receipt.noteFolders(missingFolders(dirname(edit.path)))
      createFolder(dirname(edit.path))
      replaceBytes(edit.path, after, before)
      return outcome
    }),
  )
  if (options.wired && !options.dryRun && receipt.files.length > 0) receipt.noteWired(options.wired)
  return outcomes
}

const refusalToReplace = ({ path, byHand }: FileEdit): FileOutcome => ({
  path,
  status: 'refused',
  reason: 'there is a file of that name that was not written by recall, or changed since',
  byHand,
  replaceable: true,
})

/**
 * The bytes that `uninstall` restores: those from before our first change. If somebody else wrote since, they are the
 * present bytes without our part; `null` for no file.
 */
function bytesToRestore(edit: FileEdit, receipt: OpenReceipt, before: Buffer | null): Buffer | null {
  const earlier = receipt.find(edit.path)
  if (before === null) return null
  const original = (): Buffer | null => (earlier ? receipt.originalOf(earlier) : null)
  if (receipt.wrote(edit.path, before)) return original()
  if (edit.own) return before
  const left = edit.remove(before.toString('utf8'))
  return left === null ? contentOnceEmptied(edit, original()) : Buffer.from(left)
}
