import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isMemoryError } from '@recall/core'
import { isRecord } from '../json.ts'
import { readJsonLines } from '../reading/read-json-lines.ts'
import { folderOfRollouts } from './folder-of-rollouts.ts'

/**
 * The name that a person or the host gave a session, which may be its first prompt. The host appends it to a file in
 * its own folder that holds the names of all sessions: the last name for a session counts.
 */
export async function sessionName(path: string, sessionId: string): Promise<string | undefined> {
  const folder = folderOfRollouts(path)
  if (folder === undefined) return undefined
  return (await sessionNames(join(dirname(folder), 'session_index.jsonl'))).get(sessionId) || undefined
}

/** The names that were read last: sessions are read one after the other, and one file holds all names. */
let last: { state: string; names: ReadonlyMap<string, string> } | undefined

async function sessionNames(index: string): Promise<ReadonlyMap<string, string>> {
  try {
    const { size, mtimeMs } = await stat(index)
    const state = `${index} ${size} ${mtimeMs}`
    if (last?.state !== state) last = { state, names: await readNames(index) }
    return last.names
  } catch (error) {
    // Older versions wrote none. A session is read without a name rather than not at all.
    if (!isMemoryError(error) && (error as NodeJS.ErrnoException).syscall === undefined) throw error
    return new Map()
  }
}

async function readNames(index: string): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  for await (const { value } of readJsonLines(index, () => {})) {
    if (!isRecord(value) || typeof value.id !== 'string' || typeof value.thread_name !== 'string') continue
    names.set(value.id, value.thread_name.trim())
  }
  return names
}
