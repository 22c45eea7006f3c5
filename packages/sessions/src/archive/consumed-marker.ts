import type { AtomicUpdate, MemoryManager } from '@recall/core'

const consumedKey = 'session-window:consumed'
const consumedType = 'session-window'

/** Records up to which session the window was read and emptied. */
interface ConsumedMarker {
  /** When the window was emptied, ISO 8601. */
  at: string
  /** End of the newest session that was in it, ISO 8601. */
  date: string
}

export const readConsumed = (memory: MemoryManager): Promise<ConsumedMarker | null> =>
  memory.read<ConsumedMarker>('short-term', consumedKey)

export const markConsumed = (marker: ConsumedMarker): AtomicUpdate => ({
  operation: 'set',
  key: consumedKey,
  value: marker,
  options: { type: consumedType, ttl: Number.POSITIVE_INFINITY, index: false },
})
