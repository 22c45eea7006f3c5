import { dirname, join } from 'node:path'
import { isMemoryError } from '@recall/core'
import { isRecord } from '../reading/content-blocks.ts'
import { readJsonLines } from '../reading/read-json-lines.ts'
import { folderOfRollouts } from './folder-of-rollouts.ts'

/**
 * The name that a person or the host gave a session, which may be its first prompt. The host adds it to a file in its
 * own folder, which holds the names of all sessions: of several for one session the last counts.
 */
export async function sessionName(path: string, sessionId: string): Promise<string | undefined> {
  const folder = folderOfRollouts(path)
  if (folder === undefined) return undefined
  let name: string | undefined
  try {
    for await (const { value } of readJsonLines(join(dirname(folder), 'session_index.jsonl'), () => {})) {
      if (!isRecord(value) || value.id !== sessionId || typeof value.thread_name !== 'string') continue
      name = value.thread_name.trim()
    }
  } catch (error) {
    // Older versions wrote none. A session is read without a name rather than not at all.
    if (!isMemoryError(error)) throw error
  }
  return name || undefined
}
