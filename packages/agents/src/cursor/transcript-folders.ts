import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Surroundings } from '../install/target.ts'
import { toMemoryError } from '../reading/open-file.ts'
import { cursorFolder } from './folder.ts'

/**
 * Where the host keeps transcripts on this machine: each project has a folder, which holds much else as well.
 *
 * @throws MemoryError FORBIDDEN when the projects cannot be listed
 */
export function cursorTranscriptFolders(machine: Pick<Surroundings, 'env' | 'home'>): string[] {
  const projects = join(cursorFolder(machine), 'projects')
  try {
    const names = readdirSync(projects).sort()
    return names.map((name) => join(projects, name, 'agent-transcripts'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw toMemoryError(projects, error)
  }
}
