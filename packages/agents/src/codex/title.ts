import { basename, dirname, join } from 'node:path'
import { isMemoryError } from '@recall/core'
import { isRecord } from '../reading/content-blocks.ts'
import { readJsonLines } from '../reading/read-json-lines.ts'

/** Folders of rollouts in the host's own folder. */
const rolloutFolders = new Set(['sessions', 'archived_sessions'])
const deepest = 6

/**
 * The name that a person or the host gave a session. The host adds it to a file in its own folder, which holds the
 * names of all sessions: of several for one session the last counts.
 */
export async function titleOf(path: string, sessionId: string): Promise<string | undefined> {
  const folder = hostFolderOf(path)
  if (folder === undefined) return undefined
  let title: string | undefined
  try {
    for await (const { value } of readJsonLines(join(folder, 'session_index.jsonl'), () => {})) {
      if (!isRecord(value) || value.id !== sessionId || typeof value.thread_name !== 'string') continue
      title = value.thread_name.trim()
    }
  } catch (error) {
    // Older versions wrote none. A session is read without a title rather than not at all.
    if (!isMemoryError(error)) throw error
  }
  return title || undefined
}

/** A rollout may lie anywhere, for example in a folder of its own that a person imports. */
function hostFolderOf(path: string): string | undefined {
  let folder = dirname(path)
  for (let level = 0; level < deepest; level++, folder = dirname(folder)) {
    if (rolloutFolders.has(basename(folder))) return dirname(folder)
  }
  return undefined
}
