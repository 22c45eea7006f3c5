import { isUtf8 } from 'node:buffer'
import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createFolder } from '@recall/core/process'
import {
  ChangedMeanwhile,
  leadsNowhere,
  missingFolders,
  readBytes,
  removeEmpty,
  removeUnfinished,
  replaceBytes,
} from './files.ts'
import { markedBlock } from './marked-block.ts'
import { type OpenReceipt, openReceipt, type Wired } from './receipt.ts'
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
  dryRun?: boolean
  /** Paths of files that a person lets `install` replace; `uninstall` restores their bytes. */
  replace?: readonly string[]
  /** The settings that `install` makes the edits from; recorded for `wiredIn`. */
  wired?: Wired
}

/**
 * Makes a target's changes. Doing it again changes nothing, or brings our part up to date. A file that cannot
 * be edited safely is left alone and reported as `refused`; the others are changed nevertheless.
 */
export function install(name: string, edits: readonly FileEdit[], options: InstallOptions): FileOutcome[] {
  const folder = join(options.state, name)
  const receipt = openReceipt(folder)
  const outcomes = edits.map(atFullPath).map((edit) =>
    orRefused(edit, edit.byHand, () => {
      const before = readBytes(edit.path)
      const text = textOf(before)
      const after = edit.add(text)
      if (text === after) return { path: edit.path, status: 'kept' }
      const isTheirs = edit.own && before !== null && !receipt.wrote(edit.path, before)
      if (isTheirs && !options.replace?.includes(edit.path)) return theirs(edit)
      const outcome: FileOutcome = {
        path: edit.path,
        status: before === null ? 'created' : 'changed',
        ...(before === null ? {} : { backup: folder }),
      }
      if (options.dryRun) return outcome
      receipt.note(edit.path, { original: baseline(edit, receipt, before), before, after })
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

/**
 * What is wired into a host, and the files that should hold parts of it but hold none any more; `null` if nothing is
 * wired in, or it was not recorded.
 */
export function wiredIn(
  name: string,
  edits: readonly FileEdit[],
  state: string,
): { wired: Wired; lost: string[] } | null {
  const { wired, find } = openReceipt(join(state, name))
  if (!wired) return null
  const lost = uninstall(name, edits, { state, dryRun: true })
    .filter(({ path, status }) => status === 'absent' && find(path))
    .map(({ path }) => path)
  return { wired, lost }
}

/** A host's folder may be given relative to the working folder, and uninstalled from another one. */
const atFullPath = (edit: FileEdit): FileEdit => ({ ...edit, path: resolve(edit.path) })

const theirs = ({ path, byHand }: FileEdit): FileOutcome => ({
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
function baseline(edit: FileEdit, receipt: OpenReceipt, before: Buffer | null): Buffer | null {
  const earlier = receipt.find(edit.path)
  if (before === null) return null
  const original = (): Buffer | null => (earlier ? receipt.originalOf(earlier) : null)
  if (receipt.wrote(edit.path, before)) return original()
  if (edit.own) return before
  return bytesOf(edit.remove(before.toString('utf8')) ?? whereNothingIsLeft(edit, original()))
}

const bytesOf = (left: Buffer | string | null): Buffer | null => (left === null ? null : Buffer.from(left))

/**
 * What happens to a file that holds only our part. If it existed before the installation it is not removed; its earlier
 * content does not come back, because somebody has removed it since.
 */
function whereNothingIsLeft({ own, empty = '' }: FileEdit, original: Buffer | null): Buffer | string | null {
  const comesBack = original === null || own || isBlank(original.toString('utf8'))
  return comesBack ? original : empty
}

/**
 * Takes back what `install` did. A file that nobody changed since is restored to the byte; from a file that
 * somebody changed, only our part is removed.
 */
export function uninstall(name: string, edits: readonly FileEdit[], options: InstallOptions): FileOutcome[] {
  const folder = join(options.state, name)
  const receipt = openReceipt(folder)
  const placed = edits.map(atFullPath)
  const known = new Map(placed.map((edit) => [edit.path, edit]))
  // Changes of an earlier installation that this one would not make are undone too.
  const paths = [...new Set([...placed.map(({ path }) => path), ...receipt.files.map(({ path }) => path)])]
  const outcomes = paths.reverse().map((path) => {
    const edit = known.get(path)
    return orRefused({ path }, `Remove what mentions recall from ${path}.`, () =>
      takeBack(path, edit, receipt, options.dryRun ?? false),
    )
  })
  if (options.dryRun) return outcomes
  for (const place of new Set([folder, ...paths.map(folderOf)])) removeUnfinished(place)
  removeEmpty(receipt.folders)
  if (outcomes.every(({ status }) => status !== 'refused')) {
    if (existsSync(folder)) receipt.remove([options.state])
  }
  return outcomes
}

function takeBack(
  path: string,
  edit: FileEdit | undefined,
  receipt: OpenReceipt,
  dryRun: boolean,
): FileOutcome {
  const entry = receipt.find(path)
  if (!entry && leadsNowhere(path)) return { path, status: 'absent' }
  const now = readBytes(path)
  const original = (): Buffer | null => (entry ? receipt.originalOf(entry) : null)
  const { bytes, ...outcome } =
    now === null
      ? whereGone(path, edit?.own ? original() : null)
      : receipt.wrote(path, now)
        ? put(path, original(), 'restored')
        : withoutOurs(path, now, edit, { isNoted: entry !== undefined, original })
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
type Undoing = FileOutcome & { bytes?: Buffer | string | null }

const put = (path: string, bytes: Buffer | string | null, status: FileOutcome['status']): Undoing => ({
  path,
  status: bytes === null ? 'removed' : status,
  bytes,
})

/** @param givenUp the file that ours replaced */
const whereGone = (path: string, givenUp: Buffer | null): Undoing =>
  givenUp === null ? { path, status: 'absent' } : put(path, givenUp, 'restored')

/** What happens to a file that somebody changed since, or for which nothing is recorded. */
function withoutOurs(
  path: string,
  now: Buffer,
  edit: FileEdit | undefined,
  { isNoted, original }: { isNoted: boolean; original: () => Buffer | null },
): Undoing {
  if (!isNoted && !/recall/i.test(now.toString('latin1'))) return { path, status: 'absent' }
  const text = textOf(now) ?? ''
  // For a file that is no longer edited, only the part between marks is known to be ours.
  const known = edit ?? markedBlock(path, '')
  const left = known.remove(text)
  // A target may call a whole file its own that a person changed since: the person's changes would be lost.
  const losesTheirs = known.own && left === null && known.add(null) !== text
  if (left !== text && !losesTheirs) return put(path, left ?? whereNothingIsLeft(known, original()), 'edited')
  if (!edit) throw new CannotEdit('it was changed since, and what was put into it is no longer known')
  if (!isNoted) return { path, status: 'absent' }
  if (!edit.own) return /recall/i.test(text) ? stillNamed(path) : { path, status: 'absent' }
  const theirs = original()
  if (theirs?.equals(now)) return { path, status: 'absent' }
  if (theirs !== null) return changedInPlaceOfTheirs(path)
  return {
    path,
    status: 'kept',
    reason: 'it was changed since recall wrote it: delete it if you do not need it',
  }
}

const stillNamed = (path: string): FileOutcome => ({
  path,
  status: 'kept',
  reason: 'it was changed since recall wrote into it, and mentions recall: remove what you do not need',
})

/** Neither the file that a person let us replace may be lost, nor what they wrote into ours since. */
const changedInPlaceOfTheirs = (path: string): FileOutcome => ({
  path,
  status: 'refused',
  reason: 'it was changed since recall wrote it in the place of another file',
  byHand: `Keep what you need of ${path}, delete it, and run this again: the file from before comes back.`,
})

/** The folder in which a file really lies. */
const folderOf = (path: string): string => dirname(existsSync(path) ? realpathSync(path) : path)

/** Names of the targets that are installed, or whose installation was cut short. */
export function installedNames(state: string): string[] {
  if (!existsSync(state)) return []
  return readdirSync(state, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && readdirSync(join(state, entry.name)).length > 0)
    .map(({ name }) => name)
    .sort()
}

function textOf(bytes: Buffer | null): string | null {
  if (bytes === null) return null
  if (!isUtf8(bytes)) throw new CannotEdit('it is not UTF-8 text')
  return bytes.toString('utf8')
}

/** How often to read a file again that its host is just writing. */
const mostTries = 10

function orRefused(
  edit: Pick<FileEdit, 'path'>,
  byHand: string,
  call: () => FileOutcome,
  tries = 1,
): FileOutcome {
  const { path } = edit
  try {
    return call()
  } catch (error) {
    if (error instanceof ChangedMeanwhile && tries < mostTries)
      return orRefused(edit, byHand, call, tries + 1)
    const code = (error as NodeJS.ErrnoException).code
    const isRefusal = ['CannotEdit', 'ChangedMeanwhile'].includes((error as Error).name)
    if (!isRefusal && code === undefined) throw error
    return { path, status: 'refused', reason: (error as Error).message, byHand }
  }
}
