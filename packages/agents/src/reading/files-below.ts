import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { toMemoryError } from './open-file.ts'

const otherFolders = new Set(['tool-results', 'memory', 'node_modules'])

/** Whether a host may keep sessions in a folder of this name. */
export const mayHoldSessions = (folderName: string): boolean => !otherFolders.has(folderName)

/**
 * The files at any depth whose name is wanted, in the order of their UTF-16 code units: as `.` sorts before `/`,
 * `id.jsonl` comes right before the files in `id/`. Links are not followed. A subfolder that cannot be listed is
 * included, so that opening it reports the error, and the others are read.
 */
export async function filesBelow(
  folder: string,
  isWanted: (name: string) => boolean,
  isSearched: (folderName: string) => boolean,
): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isFile() && isWanted(entry.name)) found.push(path)
    else if (entry.isDirectory() && isSearched(entry.name)) {
      // One by one: a call takes no more than some hundred thousand arguments.
      for (const each of await filesBelow(path, isWanted, isSearched).catch(() => [path])) found.push(each)
    }
  }
  return found.sort()
}

/**
 * The files at any depth below the folder of a session's helpers, which most sessions do not have.
 *
 * @throws MemoryError when there is one that cannot be read
 */
export async function filesOfHelpers(folder: string, isWanted: (name: string) => boolean): Promise<string[]> {
  try {
    return await filesBelow(folder, isWanted, mayHoldSessions)
  } catch (error) {
    // ENOTDIR: a file that is not named like a session.
    if (['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return []
    throw toMemoryError(folder, error)
  }
}
