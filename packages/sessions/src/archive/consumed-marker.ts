import type { AtomicUpdate, MemoryManager, SessionSummary } from '@recall/core'
import { fingerprint } from '@recall/core/text'
import { timeOf } from './window-entry.ts'

const consumedKey = 'session-window:consumed'
const consumedType = 'session-window'

/** How many of the sessions that were consumed last are remembered one by one. */
const longestGiven = 100

/** Records up to which session the window was read and emptied. */
interface ConsumedMarker {
  /** When the window was emptied, ISO 8601. */
  at: string
  /** End of the newest session that was in it, ISO 8601. */
  date: string
  /** Fingerprints of the last sessions that were in it, each as far as it had come, the latest last. */
  given: string[]
}

export const readConsumed = async (memory: MemoryManager): Promise<ConsumedMarker | null> => {
  const marker = await memory.read<ConsumedMarker>('short-term', consumedKey)
  return marker && { ...marker, given: marker.given ?? [] }
}

type Given = Pick<SessionSummary, 'sessionId' | 'date'>

const fingerprintOf = ({ sessionId, date }: Given): string => fingerprint(`${sessionId}\n${timeOf(date)}`)

/** Whether a session is among those that were consumed last, and has not gone on since. */
export const wasGiven = ({ given }: ConsumedMarker, session: Given): boolean =>
  given.includes(fingerprintOf(session))

/** The sessions that were given before, and some more. */
export const givenWith = (before: ConsumedMarker | null, sessions: readonly Given[]): string[] => {
  const more = sessions.map(fingerprintOf)
  const others = (before?.given ?? []).filter((each) => !more.includes(each))
  return [...others, ...more].slice(-longestGiven)
}

export const markConsumed = (marker: ConsumedMarker): AtomicUpdate => ({
  operation: 'set',
  key: consumedKey,
  value: marker,
  options: { type: consumedType, ttl: Number.POSITIVE_INFINITY, index: false },
})
