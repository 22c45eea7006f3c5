import { basename } from 'node:path'
import { isRecord, nonEmptyText } from '../json.ts'
import { filesBelow } from '../reading/files-below.ts'
import { firstValue } from '../reading/read-json-lines.ts'
import { folderOfRollouts } from './folder-of-rollouts.ts'

/** The rollouts of the session that a session was forked from: its own holds only what was said since. */
export async function listCodexOrigins(path: string): Promise<string[]> {
  const folder = folderOfRollouts(path)
  const origin = originIn(await firstValue(path))
  if (folder === undefined || origin === undefined) return []
  const isOfOrigin = (name: string): boolean => {
    const [, id] = /^rollout-[\dT-]{19}-([\w-]+?)(?:_[\w-]+)?\.jsonl(?:\.zst)?$/.exec(name) ?? []
    return id === origin && name !== basename(path)
  }
  return filesBelow(folder, isOfOrigin, () => true)
}

/** The thread whose history another one builds on; a thread that was wound back builds on its own. */
function originIn(value: unknown): string | undefined {
  const meta = isRecord(value) && value.type === 'session_meta' ? value.payload : undefined
  if (!isRecord(meta) || !isRecord(meta.history_base)) return undefined
  const origin = nonEmptyText(meta.history_base.thread_id)
  return origin === meta.id ? undefined : origin
}
