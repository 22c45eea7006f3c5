import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { isMemoryError, MemoryError, MemoryErrorCode } from '@recall/core'
import { orAbsent } from '@recall/core/process'
import * as z from 'zod/mini'
import { sha256 } from '../documents/digest.ts'
import { readText, removeFile, replaceFile } from './files.ts'

/** A file to write, or to remove if `content` is `null`. Callers put removals last. */
export interface FileChange {
  /** Below the root, with `/`. */
  path: string
  content: string | null
  /**
   * The content that the change was made from: agents and editors write these files without the lock. Absent when the
   * change does not depend on the earlier content.
   */
  seen?: string | null
}

const inside = z.string().check(z.regex(/^(?!\/)(?!.*(?:^|[/\\])\.\.(?:[/\\]|$))[^\\]+$/))
const journalSchema = z.object({
  version: z.literal(1),
  steps: z.array(z.object({ path: inside, content: z.nullable(z.string()), before: z.nullable(z.string()) })),
})

const journalOf = (root: string): string => join(root, '.journal.json')

/** Whether a process died, or is still working, between the files that it changes. */
export const isUnfinished = (root: string): boolean => readText(journalOf(root)) !== null

/**
 * Changes several files, all or none, even across a crash: a durable journal records their new contents, then they are
 * changed in order. A crash before the journal is written changes nothing; after it, the next holder of the lock
 * finishes the work. Call it under the lock.
 *
 * @throws MemoryError CONFLICT when a file is not as it was `seen`, or is being written by somebody else at this
 * moment; the changes after it are not made then; FORBIDDEN when a folder on the way to a file is a link
 */
export function applyChanges(root: string, changes: readonly FileChange[]): void {
  const steps = changes
    .map(({ path, content, seen }) => {
      const link = linkOn(root, path)
      if (link !== undefined) throw throughLink(link)
      const before = readText(join(root, path))
      if (seen !== undefined && seen !== before) throw changedMeanwhile(path)
      return { path, content, before }
    })
    .filter(({ content, before }) => content !== before)
  if (steps.length === 0) return
  const [only] = steps
  if (steps.length === 1 && only && only.content !== null) {
    replaceFile(join(root, only.path), only.content)
    return
  }
  const digested = steps.map((step) => ({
    ...step,
    before: step.before === null ? null : sha256(step.before),
  }))
  replaceFile(journalOf(root), JSON.stringify({ version: 1, steps: digested }))
  const changed = finishJournal(root)
  if (changed !== null) throw changedMeanwhile(changed)
}

/**
 * Finishes the changes of a dead process. If somebody changed one of the files since, the remaining changes are
 * dropped: removals come last, so nothing is lost. Call it under the lock.
 *
 * @returns the path of that file, or `null` when all changes are made
 */
export function finishJournal(root: string): string | null {
  const journal = journalOf(root)
  const text = readText(journal)
  if (text === null) return null
  const { steps } = parseJournal(text, journal)
  if (steps.some(({ path }) => linkOn(root, path) !== undefined)) throw unfitJournal(journal)
  let changed: string | null = null
  for (const { path, content, before } of steps) {
    const target = join(root, path)
    const now = readText(target)
    if (now === content) continue
    if ((now === null ? null : sha256(now)) !== before) {
      changed = path
      break
    }
    if (content === null) removeFile(target)
    else replaceFile(target, content)
  }
  removeFile(journal)
  return changed
}

/**
 * A folder of the path that is a link, if any: through one, a journal that came with somebody's project could write
 * anywhere.
 */
const linkOn = (root: string, path: string): string | undefined =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, i, folders) => join(root, ...folders.slice(0, i + 1)))
    .find((folder) => orAbsent(() => lstatSync(folder))?.isSymbolicLink() === true)

const throughLink = (path: string): MemoryError =>
  new MemoryError(
    `${path} is a link, which is not followed: put the folder itself there`,
    MemoryErrorCode.FORBIDDEN,
    { details: { path } },
  )

/** Whether `applyChanges` refused a change; repeating the whole section may help. */
export const isChangedMeanwhile = (error: unknown): boolean =>
  isMemoryError(error, MemoryErrorCode.CONFLICT) && error.details?.changedMeanwhile === true

const changedMeanwhile = (path: string): MemoryError =>
  new MemoryError(`${path} was written by somebody else meanwhile: try again`, MemoryErrorCode.CONFLICT, {
    details: { path, changedMeanwhile: true },
  })

function parseJournal(text: string, path: string): z.output<typeof journalSchema> {
  try {
    return journalSchema.parse(JSON.parse(text))
  } catch (cause) {
    throw unfitJournal(path, cause)
  }
}

const unfitJournal = (path: string, cause?: unknown): MemoryError =>
  new MemoryError(
    `${path} cannot be read: it should describe an unfinished write; move it away and try again`,
    MemoryErrorCode.CORRUPTION,
    { cause, details: { path } },
  )
