import { basename, dirname } from 'node:path'

/** Folders of rollouts in the host's own folder. */
const names = new Set(['sessions', 'archived_sessions'])
const deepest = 6

/** A rollout may lie anywhere, for example in a folder of its own that a person imports. */
export function folderOfRollouts(path: string): string | undefined {
  let folder = dirname(path)
  for (let level = 0; level < deepest; level++, folder = dirname(folder)) {
    if (names.has(basename(folder))) return folder
  }
  return undefined
}
