import { dirname, join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import * as z from 'zod/mini'
import { replaceFile, syncFolder, writeTemporary } from './atomic-write.ts'
import { type FileSystem, orAbsent } from './file-system.ts'
import { fromShown, shownPath } from './paths.ts'

/** One file to write, or with `content: null` to remove. Paths are absolute. */
export interface FileChange {
  path: string
  content: string | null
}

const inside = z.string().check(z.regex(/^(?!.*(?:^|\/)\.\.(?:\/|$))[^/\\]/, 'must lie below the root'))
const journalSchema = z.object({
  version: z.literal(1),
  steps: z.array(z.object({ path: inside, temporary: z.nullable(inside) })),
})
type Journal = z.output<typeof journalSchema>

export const journalPath = (folder: string): string => join(folder, 'journal.json')

/**
 * Changes several files at once, all or none, also across a crash: the new contents are made durable under
 * temporary names, then a journal says where they belong, then they are moved there. Before the journal
 * stands nothing has happened; after it, whoever comes next finishes the work. Call it under the lock.
 */
export function applyChanges(
  fileSystem: FileSystem,
  root: string,
  folder: string,
  changes: readonly FileChange[],
): void {
  const [only] = changes
  if (!only) return
  if (changes.length === 1 && only.content !== null) return replaceFile(fileSystem, only.path, only.content)
  const written: string[] = []
  try {
    const steps = changes.map(({ path, content }) => {
      if (content === null) return { path: shownPath(root, path), temporary: null }
      const temporary = writeTemporary(fileSystem, path, content)
      written.push(temporary)
      return { path: shownPath(root, path), temporary: shownPath(root, temporary) }
    })
    for (const place of new Set(written.map(dirname))) syncFolder(fileSystem, place)
    replaceFile(fileSystem, journalPath(folder), JSON.stringify({ version: 1, steps } satisfies Journal))
  } catch (error) {
    // The journal may stand although its folder could not be synced: then the work must not be undone.
    if (!fileSystem.existsSync(journalPath(folder))) {
      for (const temporary of written) orAbsent(() => fileSystem.unlinkSync(temporary))
    }
    throw error
  }
  finishJournal(fileSystem, root, folder)
}

/**
 * Finishes what a dead process began. Call it under the lock.
 *
 * @returns the paths below the root that may have changed
 */
export function finishJournal(fileSystem: FileSystem, root: string, folder: string): string[] {
  const path = journalPath(folder)
  const text = orAbsent(() => fileSystem.readFileSync(path, 'utf8'))
  if (text === null) return []
  const { steps } = parseJournal(text, path)
  for (const step of steps) {
    const target = fromShown(root, step.path)
    // A temporary file that is gone was already moved: each step may be done again.
    if (step.temporary === null) orAbsent(() => fileSystem.unlinkSync(target))
    else orAbsent(() => fileSystem.renameSync(fromShown(root, step.temporary as string), target))
  }
  for (const place of new Set(steps.map((step) => dirname(fromShown(root, step.path))))) {
    if (fileSystem.existsSync(place)) syncFolder(fileSystem, place)
  }
  fileSystem.unlinkSync(path)
  // Were the journal to come back after a power loss, it would undo what was written since.
  syncFolder(fileSystem, folder)
  return steps.map((step) => step.path)
}

function parseJournal(text: string, path: string): Journal {
  try {
    return journalSchema.parse(JSON.parse(text))
  } catch (cause) {
    throw new MemoryError(
      `${path} cannot be read: it should describe an unfinished write; move it away and run 'recall doctor'`,
      MemoryErrorCode.CORRUPTION,
      { cause, details: { path } },
    )
  }
}
