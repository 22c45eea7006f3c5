import type { Clock } from '../clock.ts'
import { errorStatus, isMemoryError, MemoryError, MemoryErrorCode } from '../errors.ts'
import { equalJson, type JsonValue, toJsonValue } from '../json.ts'
import type { MemoryManager, MemoryMetadata } from '../memory-manager.ts'
import type { Address } from '../memory-store.ts'
import type { QueueItem, WriteQueue } from './write-queue.ts'

/** Counts of one drain. */
export interface DrainResult {
  written: number
  /** Dropped, because somebody else has written the key since, or because it would have expired by now. */
  superseded: number
  /** Still waiting. */
  waiting: number
  /** Failed for good: `queue.items()` shows why. */
  dead: number
}

/** What a drain needs: the queue, the memory that it is drained into, and the callbacks. */
export interface Drain {
  memory: MemoryManager
  queue: WriteQueue
  /** The value that an item is to write. */
  valueOf: (item: QueueItem) => Promise<unknown>
  /** Waits for the writes that are about to queue behind earlier ones. */
  entered: () => Promise<unknown>
  /** Called with a write that is about to be made. */
  onAttempt: (item: QueueItem) => void
  /** Called with a write that failed for good. */
  onDead: (item: QueueItem, error: MemoryError) => void
  clock: Clock
}

/** Milliseconds before the second attempt; doubled for each further one, up to the longest. */
const firstBackoff = 1000
const longestBackoff = 5 * 60_000

/** Most writes that are made before the queue is read again for later writes of the same keys. */
const mostDelivered = 100

/**
 * Makes the queued writes of the memory's namespace that are due, oldest first and in order for each key. No other
 * process may drain the queue meanwhile.
 */
export async function drainQueue(drain: Drain): Promise<DrainResult> {
  const { memory, queue, entered, clock } = drain
  const result = nothingDrained()
  /** Keys with a write that has to wait: their later writes wait behind it. */
  const blocked = new Set<string>()
  const all = await queue.items()
  const items = all.filter((item) => item.namespace === memory.namespace)
  const followers = followersOf(items)
  const last = all.at(-1)?.id ?? 0
  /** Writes that were made and are still in the queue: nothing was queued behind them when this drain began. */
  let delivered: { item: QueueItem; value: unknown }[] = []

  /** The first write of each key that was queued since this drain began. */
  const findLate = async (): Promise<Map<string, QueueItem>> => {
    // A call that began before a write was made is dated before it, and must be found.
    await entered()
    const late = await queue.items(last)
    return new Map(late.reverse().map((item) => [nameOf(item), item]))
  }

  const orSetAside = async <Outcome>(
    item: QueueItem,
    step: () => Promise<Outcome>,
  ): Promise<Outcome | 'dead' | 'waiting'> => {
    try {
      return await step()
    } catch (error) {
      return setAside(
        drain,
        item,
        error,
        async () => followers.get(item) ?? (await findLate()).get(nameOf(item)),
      )
    }
  }

  const attempt = async (item: QueueItem): Promise<keyof DrainResult | 'delivered'> => {
    const value = await drain.valueOf(item)
    drain.onAttempt(item)
    const outcome = hasExpired(clock(), item) ? 'superseded' : await deliver(memory, item, value)
    const next = outcome === 'written' ? followers.get(item) : undefined
    if (outcome === 'written' && !next) {
      delivered.push({ item, value })
      return 'delivered'
    }
    await removeDone(drain, item, value, next)
    return outcome
  }

  const drainItem = async (item: QueueItem): Promise<keyof DrainResult | 'delivered'> => {
    if (item.dead) return 'dead'
    if (blocked.has(nameOf(item)) || !isDueAt(clock(), item)) return 'waiting'
    return orSetAside(item, () => attempt(item))
  }

  const removeDelivered = async (): Promise<void> => {
    if (delivered.length === 0) return
    const writes = delivered
    delivered = []
    const late = await findLate()
    for (const { item, value } of writes) {
      const outcome = await orSetAside(item, async () => {
        await removeDone(drain, item, value, late.get(nameOf(item)))
        return 'written' as const
      })
      result[outcome]++
    }
  }

  try {
    for (const item of items) {
      const outcome = await drainItem(item)
      if (outcome === 'waiting') blocked.add(nameOf(item))
      if (outcome !== 'delivered') result[outcome]++
      else if (delivered.length === mostDelivered) await removeDelivered()
    }
  } finally {
    await removeDelivered()
  }
  return result
}

/** Removes a write from the queue, after noting in the key's next write which version it left. */
async function removeDone(
  drain: Drain,
  item: QueueItem,
  value: unknown,
  next: QueueItem | undefined,
): Promise<void> {
  if (next) await noteOwnVersion(drain, next, value)
  await drain.queue.remove(item.id)
}

/** Notes in the queue why an attempt failed. */
async function setAside(
  drain: Drain,
  item: QueueItem,
  error: unknown,
  findNext: () => Promise<QueueItem | undefined>,
): Promise<'dead' | 'waiting'> {
  const { queue } = drain
  // The error of a closed memory says nothing about the write.
  if (!isMemoryError(error) || error.code === MemoryErrorCode.CLOSED) throw error
  const dead = !maySucceedLater(item, error)
  // To the next write, the version that this one would have replaced is still our own.
  const next = dead && item.follows !== undefined ? await findNext() : undefined
  if (next) {
    next.follows = item.follows as number
    await queue.update(next)
  }
  const failed = {
    ...item,
    attempts: item.attempts + 1,
    notBefore: drain.clock() + Math.min(longestBackoff, firstBackoff * 2 ** item.attempts),
    lastError: error.message,
  }
  await queue.update(dead ? { ...failed, dead } : failed)
  if (dead) drain.onDead(item, error)
  return dead ? 'dead' : 'waiting'
}

/** There may be room later; and after SEARCH_FAILED the write itself was not tried, only reading the key failed. */
const maySucceedLater = (item: QueueItem, error: MemoryError): boolean =>
  isPassing(error) ||
  error.code === MemoryErrorCode.QUOTA_EXCEEDED ||
  error.code === MemoryErrorCode.SEARCH_FAILED ||
  lacksKey(item, error)

/** Whether a write asks for encryption and this process has no key: the next one to drain the queue may have it. */
const lacksKey = ({ options }: QueueItem, { code }: MemoryError): boolean =>
  options?.encrypt === true && code === MemoryErrorCode.NOT_SUPPORTED

/**
 * Makes a queued write, unless it was made already or somebody has written the key since. If the key changes between
 * the check and the write, it is checked again.
 */
async function deliver(
  memory: MemoryManager,
  item: QueueItem,
  value: unknown,
): Promise<'written' | 'superseded'> {
  const { scope, key, options } = item
  for (;;) {
    const record = await memory.read(scope, key, { includeMetadata: true })
    const ifUpdatedAt = record?.metadata.updatedAt
    const standing = record ? compareWithStored(item, value, record) : 'nothing'
    if (standing !== 'nothing') return standing === 'itself' ? 'written' : 'superseded'
    try {
      await makeUnlessChanged(memory, item, value, ifUpdatedAt)
      return 'written'
    } catch (error) {
      if (!isMemoryError(error, MemoryErrorCode.CONFLICT)) throw error
      const present = await memory.read(scope, key, { includeMetadata: true })
      if (present?.metadata.updatedAt !== ifUpdatedAt) continue
      // With `overwrite: false`, the write itself requires a free key. Any other conflict is only a passing collision.
      throw present && options?.overwrite === false ? error : passing(error)
    }
  }
}

/** @throws MemoryError CONFLICT when the key is no longer as it was seen: absent, or written at `ifUpdatedAt` */
async function makeUnlessChanged(
  memory: MemoryManager,
  { scope, key, options }: QueueItem,
  value: unknown,
  ifUpdatedAt: number | undefined,
): Promise<void> {
  if (ifUpdatedAt === undefined) return memory.write(scope, key, value, { ...options, overwrite: false })
  const update = { operation: 'set', key, value, ifUpdatedAt, ...(options ? { options } : {}) } as const
  return memory.atomicUpdate(scope, [update])
}

/** A conflict that changed nothing, such as the end of a deadlock in a database: the write can be tried again. */
const passing = (conflict: MemoryError): MemoryError =>
  new MemoryError(conflict.message, MemoryErrorCode.UNAVAILABLE, { cause: conflict })

/** No access can have extended the TTL of a value that is not in the memory yet. */
const hasExpired = (now: number, { queuedAt, options }: QueueItem): boolean => {
  const { ttl = 0 } = options ?? {}
  return ttl > 0 && now >= queuedAt + ttl
}

/** A write that would have to wait longer than the longest backoff was set aside by a wrong clock. */
const isDueAt = (now: number, { notBefore }: QueueItem): boolean =>
  notBefore <= now || notBefore > now + longestBackoff

/** Notes in the next queued write of the key which version is ours, before the item that shows it is removed. */
async function noteOwnVersion({ memory, queue }: Drain, next: QueueItem, value: unknown): Promise<void> {
  const record = await memory.read(next.scope, next.key, { includeMetadata: true })
  if (!record || !equalJson(record.value as JsonValue, toJsonValue(value))) return
  next.follows = record.metadata.updatedAt
  await queue.update(next)
}

/**
 * Compares what the memory holds under the key with a queued write: nothing newer, the write itself, or a later one.
 */
function compareWithStored(
  { queuedAt, follows, options }: QueueItem,
  value: unknown,
  record: { value: unknown; metadata: MemoryMetadata },
): 'nothing' | 'itself' | 'a later write' {
  const { updatedAt } = record.metadata
  if (updatedAt === follows) return 'nothing'
  // The attempt that timed out may have succeeded after all. An older entry may have other options.
  const isRecent = updatedAt >= queuedAt || options?.overwrite === false
  if (isRecent && equalJson(record.value as JsonValue, toJsonValue(value))) return 'itself'
  return updatedAt > queuedAt ? 'a later write' : 'nothing'
}

/** Maps each queued write to the next one of the same key that is not dead, if there is one. */
function followersOf(items: readonly QueueItem[]): Map<QueueItem, QueueItem> {
  const followers = new Map<QueueItem, QueueItem>()
  const last = new Map<string, QueueItem>()
  for (const item of items) {
    if (item.dead) continue
    const earlier = last.get(nameOf(item))
    if (earlier) followers.set(earlier, item)
    last.set(nameOf(item), item)
  }
  return followers
}

export const nothingDrained = (): DrainResult => ({ written: 0, superseded: 0, waiting: 0, dead: 0 })

/** The store may answer the same call later: it timed out, cannot be reached or is too busy. */
export const isPassing = ({ code }: MemoryError): boolean => errorStatus[code].retryable

export const nameOf = ({ namespace, scope, key }: Address): string => JSON.stringify([namespace, scope, key])
