import { basename, dirname, join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { orAbsent, syncFolder, writing } from '@recall/core/process'
import * as z from 'zod/mini'
import { removeFile, replaceFile, temporaryName, writeTemporary } from './atomic-write.ts'
import { sha256 } from './digest.ts'
import { type FileSystem, reading, statusOf } from './file-system.ts'
import { folderOf, fromShown, isInside, shownPath } from './paths.ts'

/** A file to write, or to remove if `content` is `null`. Paths are absolute. */
export interface FileChange {
  path: string
  content: string | null
  /** What the file held when the change was planned, `null` for no file. */
  before: string | null
  /** The file that a new file's content comes from: the new file is no more readable than that. */
  source?: string
}

const inside = z
  .string()
  .check(z.regex(/^(?!.*(?:^|[/\\])\.\.(?:[/\\]|$))[^/\\]/s, 'must lie below the root'))
const temporary = inside.check(
  z.refine((path: string) => temporaryName.test(basename(path)), 'must be an unfinished file'),
)
const journalSchema = z.object({
  version: z.literal(1),
  steps: z.array(
    z.object({
      path: inside,
      temporary: z.nullable(temporary),
      /** SHA-256 of the earlier content, `null` for no file. */
      before: z.nullable(z.string()),
    }),
  ),
})
type Journal = z.output<typeof journalSchema>

export const journalPath = (folder: string): string => join(folder, 'journal.json')

/**
 * Changes several files at once, all or none, even across a crash: the new contents are made durable under temporary
 * names, then a journal says where they belong, then they are moved there. Until the journal exists nothing has
 * happened; after that, the next process finishes the work. Call it under the lock.
 *
 * @param verify cancels the change by throwing; runs before the journal is written, and again before the first move
 */
export function applyChanges(
  fileSystem: FileSystem,
  root: string,
  folder: string,
  changes: readonly FileChange[],
  verify: () => void = () => {},
): void {
  const [first, ...others] = changes
  if (!first) return
  if (others.length === 0) {
    applyAtOnce(fileSystem, first, verify)
    return
  }
  /** The new contents, by the path that each belongs to. */
  const unfinished = new Map<string, string>()
  try {
    const steps = changes.map(({ path, content, before, source }) => {
      const step = { path: shownPath(root, path), before: digestOf(before) }
      if (content === null) return { ...step, temporary: null }
      const temporary = writing(path, () => writeTemporary(fileSystem, path, content, source))
      unfinished.set(path, temporary)
      return { ...step, temporary: shownPath(root, temporary) }
    })
    const folders = new Set([...unfinished.values()].map(dirname))
    for (const place of folders) writing(place, () => syncFolder(place, fileSystem))
    const journal = JSON.stringify({ version: 1, steps } satisfies Journal)
    replaceFile(fileSystem, journalPath(folder), journal, { verify })
  } catch (error) {
    // The journal may be in place although syncing its folder failed: then the work must not be undone.
    if (!fileSystem.existsSync(journalPath(folder))) {
      for (const path of unfinished.values()) orAbsent(() => fileSystem.unlinkSync(path))
    }
    throw error
  }
  try {
    // Making the journal durable took time: what a person saved meanwhile stays, and nothing was moved yet.
    verify()
  } catch (error) {
    removeFile(fileSystem, journalPath(folder))
    for (const path of unfinished.values()) orAbsent(() => fileSystem.unlinkSync(path))
    throw error
  }
  const targets = changes.map(({ path }) => path)
  finish(fileSystem, folder, targets, () => {
    for (const path of targets) {
      const temporary = unfinished.get(path)
      writing(path, () => {
        if (temporary === undefined) orAbsent(() => fileSystem.unlinkSync(path))
        else fileSystem.renameSync(temporary, path)
      })
    }
  })
}

/** Replaces or removes a single file at once, without a journal. */
function applyAtOnce(
  fileSystem: FileSystem,
  { path, content, source }: FileChange,
  verify: () => void,
): void {
  if (content !== null) replaceFile(fileSystem, path, content, { verify, source })
  else {
    verify()
    removeFile(fileSystem, path)
  }
}

/**
 * Finishes what a dead process began. A file that somebody wrote after that process died is newer than the unfinished
 * write and stays. Call it under the lock.
 *
 * @param places where the memory lies, below the root
 * @returns the paths below the root that may have changed
 * @throws MemoryError CORRUPTION for a journal that names anything else: it may have come with a folder from anybody
 */
export function finishJournal(
  fileSystem: FileSystem,
  root: string,
  folder: string,
  places: readonly string[],
): string[] {
  const journal = journalPath(folder)
  if (statusOf(fileSystem, journal)?.isFile() === false) throw unfitJournal(journal)
  const text = reading(fileSystem, journal, () => orAbsent(() => fileSystem.readFileSync(journal, 'utf8')))
  if (text === null) return []
  const { steps } = parseJournal(text, journal)
  if (!steps.every((step) => isOwnStep(step, places))) throw unfitJournal(journal)
  const targets = steps.map(({ path }) => fromShown(root, path))
  finish(fileSystem, folder, targets, () => {
    steps.forEach((step, i) => {
      const path = targets[i] as string
      writing(path, () => finishStep(fileSystem, root, path, step))
    })
  })
  return steps.map(({ path }) => path)
}

/**
 * Whether `applyChanges` may have made a step: it changes a markdown file of the memory, and its temporary file is in
 * the same folder.
 */
const isOwnStep = ({ path, temporary }: Journal['steps'][number], places: readonly string[]): boolean =>
  path.endsWith('.md') &&
  places.some((place) => path === place || path.startsWith(`${place}/`)) &&
  (temporary === null || folderOf(temporary) === folderOf(path))

function finishStep(
  fileSystem: FileSystem,
  root: string,
  path: string,
  step: Journal['steps'][number],
): void {
  if (!isInside(fileSystem, root, dirname(path))) return
  const unfinished = step.temporary === null ? null : fromShown(root, step.temporary)
  // A missing file was already moved: every step can be repeated.
  if (unfinished !== null && !fileSystem.existsSync(unfinished)) return
  const now = orAbsent(() => sha256(fileSystem.readFileSync(path, 'utf8')))
  const isNewer = now !== step.before
  if (unfinished === null) {
    if (!isNewer) orAbsent(() => fileSystem.unlinkSync(path))
  } else if (isNewer) fileSystem.unlinkSync(unfinished)
  else fileSystem.renameSync(unfinished, path)
}

/** An empty file has a digest, too: it is not the same as no file. */
const digestOf = (before: FileChange['before']): string | null => (before === null ? null : sha256(before))

/** Runs the moves, makes them durable, and only then removes the journal. */
function finish(fileSystem: FileSystem, folder: string, targets: string[], move: () => void): void {
  move()
  for (const place of new Set(targets.map(dirname))) {
    if (fileSystem.existsSync(place)) writing(place, () => syncFolder(place, fileSystem))
  }
  writing(journalPath(folder), () => {
    fileSystem.unlinkSync(journalPath(folder))
    // If the journal came back after a power loss, replaying it would undo later writes.
    syncFolder(folder, fileSystem)
  })
}

function parseJournal(text: string, path: string): Journal {
  try {
    return journalSchema.parse(JSON.parse(text))
  } catch (cause) {
    throw unfitJournal(path, cause)
  }
}

const unfitJournal = (path: string, cause?: unknown): MemoryError =>
  new MemoryError(
    `${path} cannot be read: it should describe an unfinished write; move it away and run 'recall doctor'`,
    MemoryErrorCode.CORRUPTION,
    { cause, details: { path } },
  )
