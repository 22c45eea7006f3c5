import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

const otherFolders = new Set(['tool-results', 'memory', 'node_modules'])

/** Whether a host may keep sessions in a folder of this name. */
export const mayHoldSessions = (folderName: string): boolean => !otherFolders.has(folderName)

/**
 * The files at any depth whose name is wanted, in the order of their UTF-16 code units: as `.` sorts before `/`,
 * `id.jsonl` stands right before the files in `id/`. Links are not followed. A folder below that cannot be listed is
 * among them, so that opening it reports the error, and the others are read.
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
    else if (entry.isDirectory() && isSearched(entry.name))
      found.push(...(await filesBelow(path, isWanted, isSearched).catch(() => [path])))
  }
  return found.sort()
}
