import { type Address, conversationKey, type JsonValue } from '@recall/core'
import { defaultFileSystem, type FileStore, readTombstones } from '@recall/store-file'
import { sessionKeptIn, withParents } from './session-keys.ts'

/**
 * @returns a test for what a person had forgotten: an address or an entry, and with a session's archive everything that
 * is kept from it
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
