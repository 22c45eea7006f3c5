import { existsSync, realpathSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createFolder } from '@recall/core/process'
import { leadsNowhere, readBytes, removeEmpty, removeUnfinished, replaceBytes } from './files.ts'
import { markedBlock } from './marked-block.ts'
import {
  atFullPath,
  contentOnceEmptied,
  type FileOutcome,
  type InstallOptions,
  orRefused,
  textOf,
} from './outcome.ts'
import { type OpenReceipt, openReceipt } from './receipt.ts'
import { CannotEdit, type FileEdit } from './target.ts'

/**
 * Takes back what `install` did. A file that nobody changed since is restored to the byte; from a file that
 * somebody changed, only our part is removed.
 */
export function uninstall(
  name: string,
  edits: readonly FileEdit[],
  { state, dryRun = false }: Pick<InstallOptions, 'state' | 'dryRun'>,
): FileOutcome[] {
  const folder = join(state, name)
  const receipt = openReceipt(folder)
  const placed = edits.map(atFullPath)
  const known = new Map(placed.map((edit) => [edit.path, edit]))
  // Changes of an earlier installation that this one would not make are undone too.
  const paths = [...new Set([...placed.map(({ path }) => path), ...receipt.files.map(({ path }) => path)])]
  const outcomes = paths
    .reverse()
    .map((path) =>
      orRefused(path, `Remove what mentions recall from ${path}.`, () =>
        undo(path, known.get(path), receipt, dryRun),
      ),
    )
  if (dryRun) return outcomes
  for (const place of new Set([folder, ...paths.map(folderOf)])) removeUnfinished(place)
  removeEmpty(receipt.folders)
  if (outcomes.every(({ status }) => status !== 'refused')) {
    if (existsSync(folder)) receipt.remove([state])
  }
  return outcomes
}

/** The folder in which a file really lies. */
const folderOf = (path: string): string => dirname(existsSync(path) ? realpathSync(path) : path)

function undo(path: string, edit: FileEdit | undefined, receipt: OpenReceipt, dryRun: boolean): FileOutcome {
  if (!receipt.find(path) && leadsNowhere(path)) return { path, status: 'absent' }
  const now = readBytes(path)
  const { bytes, ...outcome } = plan(path, now, edit, receipt)
  if (dryRun || outcome.status === 'refused') return outcome
  if (bytes === null) rmSync(path, { force: true })
  else if (bytes !== undefined) {
    createFolder(dirname(path))
    replaceBytes(path, bytes, now)
  }
  receipt.done(path)
  return outcome
}

/** An outcome, and the bytes to write: `null` removes the file, `undefined` leaves it as it is. */
type Plan = FileOutcome & { bytes?: Buffer | string | null }

function plan(path: string, now: Buffer | null, edit: FileEdit | undefined, receipt: OpenReceipt): Plan {
  const entry = receipt.find(path)
  const original = (): Buffer | null => (entry ? receipt.originalOf(entry) : null)
  if (now === null) return planForMissing(path, edit?.own ? original() : null)
  if (receipt.wrote(path, now)) return planToWrite(path, original(), 'restored')
  return planForChanged(path, now, edit, { isNoted: entry !== undefined, original })
}

/** @param written the status when there are bytes to write; without any, the file is removed */
const planToWrite = (path: string, bytes: Buffer | string | null, written: 'restored' | 'edited'): Plan => ({
  path,
  status: bytes === null ? 'removed' : written,
  bytes,
})

/** @param replaced the file that ours replaced */
const planForMissing = (path: string, replaced: Buffer | null): Plan =>
  replaced === null ? { path, status: 'absent' } : planToWrite(path, replaced, 'restored')

/** For a file that somebody changed since, or for which nothing is recorded. */
function planForChanged(
  path: string,
  now: Buffer,
  edit: FileEdit | undefined,
  { isNoted, original }: { isNoted: boolean; original: () => Buffer | null },
): Plan {
  if (!isNoted && !/recall/i.test(now.toString('latin1'))) return { path, status: 'absent' }
  const text = textOf(now) ?? ''
  // For a file that is no longer edited, only the part between marks is known to be ours.
  const known = edit ?? markedBlock(path, '')
  const left = known.remove(text)
  // A target may call a whole file its own that a person changed since: the person's changes would be lost.
  const losesChanges = known.own && left === null && known.add(null) !== text
  if (left !== text && !losesChanges)
    return planToWrite(path, left ?? contentOnceEmptied(known, original()), 'edited')
  if (!edit) throw new CannotEdit('it was changed since, and what was put into it is no longer known')
  if (!isNoted) return { path, status: 'absent' }
  if (!edit.own) return /recall/i.test(text) ? keptAsMentioning(path) : { path, status: 'absent' }
  const replaced = original()
  if (replaced?.equals(now)) return { path, status: 'absent' }
  return replaced === null ? keptAsChanged(path) : refusalToRestore(path)
}

const keptAsChanged = (path: string): FileOutcome => ({
  path,
  status: 'kept',
  reason: 'it was changed since recall wrote it: delete it if you do not need it',
})

const keptAsMentioning = (path: string): FileOutcome => ({
  path,
  status: 'kept',
  reason: 'it was changed since recall wrote into it, and mentions recall: remove what you do not need',
})

/** Neither the file that a person let us replace may be lost, nor what they wrote into ours since. */
const refusalToRestore = (path: string): FileOutcome => ({
  path,
  status: 'refused',
  reason: 'it was changed since recall wrote it in the place of another file',
  byHand: `Keep what you need of ${path}, delete it, and run this again: the file from before comes back.`,
})
