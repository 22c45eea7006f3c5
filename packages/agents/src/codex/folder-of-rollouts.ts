import { basename, dirname } from 'node:path'

/** Folders of rollouts in the host's own folder. */
const names = new Set(['sessions', 'archived_sessions'])
const deepest = 6

/**
 * The host's folder that contains a rollout; `undefined` for one that lies elsewhere, as in a folder that a person
 * imports.
 */
export function folderOfRollouts(path: string): string | undefined {
  let folder = dirname(path)
  for (let level = 0; level < deepest; level++, folder = dirname(folder)) {
    if (names.has(basename(folder))) return folder
  }
  return undefined
}
