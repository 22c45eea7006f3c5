import { lstatSync, readdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, isAbsolute } from 'node:path'
import { createMemoryManager, isMemoryError } from '@recall/core'
import { copiesWithOrigin, type EchoOrigin, removeCopies } from '@recall/echoes'
import type { FileStore, Finding } from '@recall/store-file'
import { count } from '../../terminal/format.ts'
import type { Io } from '../../terminal/io.ts'
import { projectHolding } from './project.ts'

const check = 'echoes of other projects'

/**
 * Copies of echoes whose folder is gone, as after a project was moved or a worktree removed: no change of an echo brings
 * them in step any more.
 */
export async function abandonedCopies(io: Io, store: FileStore, fix: boolean): Promise<Finding[]> {
  const memory = createMemoryManager({ stores: store, clock: io.now })
  try {
    const gone = new Map<string, string[]>()
    for (const [key, origin] of await copiesWithOrigin(memory))
      if (isGone(origin)) gone.set(origin.folder, [...(gone.get(origin.folder) ?? []), key])
    if (gone.size === 0) return []
    if (fix) await removeCopies(memory, [...gone.values()].flat())
    return [
      found(
        [...gone].map(([folder, keys]) => describe(folder, keys.length)),
        fix,
      ),
    ]
  } catch (error) {
    if (!isMemoryError(error)) throw error
    return [{ check, ok: false, message: error.message, remedy: 'mend that, and run the same again' }]
  }
}

const describe = (folder: string, copies: number): string =>
  `${folder} is gone, of whose echoes the memory held ${count(copies, 'copy', 'copies')}`

const found = (problems: string[], fixed: boolean): Finding => ({
  check,
  ok: fixed,
  message: problems.join('; '),
  ...(problems.length > 1 ? { problems } : {}),
  remedy:
    "run 'recall echoes doctor' in the project where it lies now, if it does, and 'recall doctor --fix' to remove these copies",
  ...(fixed ? { fixed } : {}),
})

/**
 * Whether the folder is gone from this machine, and not away with its disk: then what would hold the project is missing
 * too, or empty, as a mount point is.
 */
function isGone({ folder, host }: EchoOrigin): boolean {
  if (host !== hostname() || !isAbsolute(folder)) return false
  const holder = dirname(projectHolding(folder))
  for (let at = folder; ; at = dirname(at)) {
    if (isThere(at)) return at !== folder && holdsFiles(at)
    if (at === holder || at === dirname(at)) return false
  }
}

/** Also where it cannot be told, and where a link leads to nothing. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}

function holdsFiles(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0
  } catch {
    return false
  }
}
