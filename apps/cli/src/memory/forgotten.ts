import { type Address, conversationKey, isJsonObject, type JsonValue } from '@recall/core'
import { defaultFileSystem, type FileStore, readTombstones } from '@recall/store-file'

/** The store gives a copied archive its session's key and, behind `@`, the name of its file. */
const archiveOf = /^conversation:(.+?)(?:#\d+)?(?:@(?:conversation|archive-log)-\d{3,}(?:@\w+)?)?$/

/**
 * The id of the session, or of the helper, whose archive this is. The archive itself knows; its key alone does not tell
 * the second part of a session from a session whose id ends like that.
 */
export function sessionOf({ key, value }: { key: string; value?: JsonValue }): string | undefined {
  const said = isJsonObject(value) && typeof value.sessionId === 'string' ? value.sessionId : undefined
  return said !== undefined && key.startsWith(conversationKey(said)) ? said : archiveOf.exec(key)?.[1]
}

/** A session, or a helper and whoever it helped: its id begins with theirs. */
export const withParents = (session: string): string[] =>
  session.split('/').map((_, i, parts) => parts.slice(0, i + 1).join('/'))

/** The id of the session that an entry was kept of, if it was of one. */
export function sessionKeptIn(asked: Address & { value?: JsonValue }): string | undefined {
  const { scope, key } = asked
  if (scope === 'short-term') return /^session:(.+)$/.exec(key)?.[1]
  return scope === 'episodic'
    ? (sessionOf(asked) ?? /^(?:compaction|edited-summary):(.+):[^:]*$/.exec(key)?.[1])
    : undefined
}

/**
 * @returns a test for what a person had forgotten: an address or an entry, and with a session's archive all that is
 * kept of it
 */
export function readForgotten(store: FileStore): (asked: Address & { value?: JsonValue }) => boolean {
  const isForgotten = readTombstones(defaultFileSystem, store)
  return (asked) => {
    const sessions = withParents(sessionKeptIn(asked) ?? '').filter((session) => session !== '')
    const archives = sessions.map(
      (session): Address => ({
        scope: 'episodic',
        namespace: asked.namespace,
        key: conversationKey(session),
      }),
    )
    return [asked, ...archives].some(isForgotten)
  }
}
