import { basename } from 'node:path'
import type { Conversation } from '@recall/core'
import { isRecord, nonEmptyText } from '../json.ts'
import { readJsonLines } from '../reading/read-json-lines.ts'

export type Identity = Pick<Conversation, 'sessionId' | 'parent'>

/**
 * The identity in the first `session_meta` line: later ones were copied from the session that this one continues. A
 * session that names none is named by its file.
 */
export async function identityIn(path: string): Promise<Identity> {
  for await (const { value } of readJsonLines(path, () => {})) {
    const meta = isRecord(value) && value.type === 'session_meta' ? value.payload : undefined
    const identity = isRecord(meta) ? identityOf(meta) : undefined
    if (identity !== undefined) return identity
  }
  return { sessionId: idInName(path) }
}

/**
 * A helper's own id is `id`. The member that names what started it depends on the version; `session_id` is the session
 * of a person above all helpers, or the session's own id if it is not a helper's.
 */
function identityOf({
  id,
  session_id,
  parent_thread_id,
  thread_source,
  source,
}: Record<string, unknown>): Identity | undefined {
  const own = nonEmptyText(id) ?? nonEmptyText(session_id)
  if (own === undefined) return undefined
  const helper = isRecord(source) ? source.subagent : undefined
  const spawn = isRecord(helper) ? helper.thread_spawn : undefined
  const starter =
    nonEmptyText(parent_thread_id) ?? (isRecord(spawn) ? nonEmptyText(spawn.parent_thread_id) : undefined)
  if (helper === undefined && starter === undefined && thread_source !== 'subagent') return { sessionId: own }
  const above = [nonEmptyText(session_id), starter].filter((each) => each !== undefined && each !== own)
  const parent = [...new Set(above)].join('/') || 'unknown'
  return { sessionId: `${parent}/${own}`, parent }
}

/** Helpers that watch over a session, shorten it or keep notes of it: they add nothing to the session. */
const ownHelpers = new Set<unknown>(['guardian', 'guardian_review', 'compact', 'memory_consolidation'])

/** Whether the host started a session for itself, according to its first line. */
export function isOfHost({ source, thread_source }: Record<string, unknown>): boolean {
  const { subagent, internal } = isRecord(source) ? source : {}
  const kind = isRecord(subagent) ? subagent.other : subagent
  return internal !== undefined || ownHelpers.has(kind) || ownHelpers.has(thread_source)
}

/** `rollout-2026-11-20T09-00-00-<uuid>.jsonl`, with `.zst` at the end if it is compressed. */
function idInName(path: string): string {
  const name = basename(path).replace(/\.jsonl(?:\.zst)?$/, '')
  return /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.exec(name)?.[0] ?? name
}
