import { MemoryError, MemoryErrorCode } from '../errors.ts'
import type { WriteOptions } from '../memory-manager.ts'
import { parseInput } from '../parse-input.ts'
import type { MemoryScope } from '../scope.ts'
import { queueOptionsSchema } from './inputs.ts'

/** A write that the store has not taken yet. */
export interface QueuedWrite {
  namespace: string
  scope: MemoryScope
  key: string
  /** JSON; an envelope when the write asks for encryption. */
  value: unknown
  options?: WriteOptions
  queuedAt: number
}

export interface QueueItem extends QueuedWrite {
  /** Rises from item to item, also across restarts. */
  id: number
  /** Attempts made from the queue. */
  attempts: number
  /** Not to be tried before this time. */
  notBefore: number
  /** `updatedAt` of the key after its previous queued write was made: that version is ours, not somebody else's. */
  follows?: number
  /** Why the last attempt failed. */
  lastError?: string
  /** It failed for good: trying again cannot help, so it waits for a person. */
  dead?: boolean
}

/**
 * Where queued writes are kept. Every call is durable, where the queue is, before its promise resolves.
 *
 * @throws MemoryError QUOTA_EXCEEDED from `append` when the queue is full
 */
export interface WriteQueue {
  readonly durable: boolean
  append(write: QueuedWrite): Promise<QueueItem>
  /** The items with an id above `after`, by default all, in the order of their ids. */
  items(after?: number): Promise<QueueItem[]>
  /** Saves the changed attempts, times and errors of an item. */
  update(item: QueueItem): Promise<void>
  remove(id: number): Promise<void>
  /** Runs a section that no other process runs at the same moment; `null` when another one does. */
  exclusively<T>(section: () => Promise<T>): Promise<T | null>
  /** The writes stay. Afterwards, appending, listing and draining fail with CLOSED. A drain under way finishes. */
  close(): Promise<void>
}

/** Most writes that a queue keeps. */
export const queueCapacity = 10_000

/** @throws MemoryError INVALID_INPUT unless it is a whole number of at least 1 */
export function parseQueueCapacity(capacity: number = queueCapacity): number {
  if (Number.isInteger(capacity) && capacity >= 1) return capacity
  throw new MemoryError(
    `capacity is the number of writes that may wait, a whole number of at least 1, not ${capacity}`,
    MemoryErrorCode.INVALID_INPUT,
  )
}

/** The error of `append` when as many writes wait as the queue may hold. */
export const queueIsFull = (capacity: number): MemoryError =>
  new MemoryError(
    `${capacity} writes are queued already: find out why the store does not answer`,
    MemoryErrorCode.QUOTA_EXCEEDED,
    { details: { capacity } },
  )

/** The error of a queue that was closed. */
export const queueIsClosed = (): MemoryError =>
  new MemoryError('this queue is closed: open it again', MemoryErrorCode.CLOSED)

/**
 * A queue in this process's memory, for tests and for stores that do not outlive the process either.
 *
 * @throws MemoryError INVALID_INPUT when the capacity is not a whole number of at least 1, or another option is given
 */
export function createInMemoryQueue(options: { capacity?: number | undefined } = {}): WriteQueue {
  parseInput(queueOptionsSchema, options, 'options')
  const capacity = parseQueueCapacity(options.capacity)
  const items = new Map<number, QueueItem>()
  let last = 0
  let busy = false
  let closed = false
  const refuseClosed = (): void => {
    if (closed && !busy) throw queueIsClosed()
  }
  return {
    durable: false,
    async append(write) {
      refuseClosed()
      if (items.size >= capacity) throw queueIsFull(capacity)
      const item = structuredClone({ ...write, id: ++last, attempts: 0, notBefore: 0 })
      items.set(item.id, item)
      return structuredClone(item)
    },
    async items(after = 0) {
      refuseClosed()
      return structuredClone([...items.values()].filter(({ id }) => id > after))
    },
    async update(item) {
      if (items.has(item.id)) items.set(item.id, structuredClone(item))
    },
    async remove(id) {
      items.delete(id)
    },
    async exclusively(section) {
      refuseClosed()
      if (busy) return null
      busy = true
      try {
        return await section()
      } finally {
        busy = false
      }
    },
    async close() {
      closed = true
    },
  }
}
