import { type Address, conversationKey, type JsonValue } from '@recall/core'
import { isJsonObject } from '@recall/core/json'

/** The host's summary of a compacted session is an episode of its own. */
export const compactionType = 'compaction-summary'
export const compactionKey = (sessionId: string, id: string): string => `compaction:${sessionId}:${id}`

/** The store gives a copied archive its session's key and, after `@`, the name of its file. */
const archiveOf = /^conversation:(.+?)(?:#\d+)?(?:@(?:conversation|archive-log)-\d{3,}(?:@\w+)?)?$/

/**
 * The id of the session, or of the helper, whose archive this is. The archive itself knows; its key alone cannot tell
 * the second part of a session from a session whose id ends like that.
 */
export function sessionOf({ key, value }: { key: string; value?: JsonValue }): string | undefined {
  const said = isJsonObject(value) && typeof value.sessionId === 'string' ? value.sessionId : undefined
  return said !== undefined && key.startsWith(conversationKey(said)) ? said : archiveOf.exec(key)?.[1]
}

/** A session, or a helper followed by those it helped: its id begins with theirs. */
export const withParents = (session: string): string[] =>
  session.split('/').map((_, i, parts) => parts.slice(0, i + 1).join('/'))

/** The id of the session that an entry was kept from, if any. */
export function sessionKeptIn(asked: Address & { value?: JsonValue }): string | undefined {
  const { scope, key } = asked
  if (scope === 'short-term') return /^session:(.+)$/.exec(key)?.[1]
  return scope === 'episodic'
    ? (sessionOf(asked) ?? /^(?:compaction|edited-summary):(.+):[^:]*$/.exec(key)?.[1])
    : undefined
}
