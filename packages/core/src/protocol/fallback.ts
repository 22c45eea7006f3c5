import { type Clock, systemClock } from '../clock.ts'
import { createSealer, isEnvelope, type KeyRing } from '../encryption.ts'
import { encryptedYetIndexed, noKey, toJson } from '../entry-factory.ts'
import { errorStatus, isMemoryError, MemoryError, MemoryErrorCode } from '../errors.ts'
import { parseInput, parseKey, parseScope, writeOptionsSchema } from '../inputs.ts'
import { equalJson, type JsonValue, toJsonValue } from '../json.ts'
import type { MemoryManager, MemoryMetadata, WriteOptions } from '../memory-manager.ts'
import type { Address } from '../memory-store.ts'
import { evictedScope, evictionThreshold } from '../quotas.ts'
import { createRedactor, type RedactPolicy } from '../redaction/redactor.ts'
import type { MemoryScope } from '../scope.ts'
import type { QueueItem, WriteQueue } from './write-queue.ts'

/** How a write succeeded. A `queued` write is not in the memory yet. */
export type WriteOutcome = 'written' | 'written after clean-up' | 'queued'

/** A failure that was handled instead of thrown. */
export interface Degradation {
  kind: 'read' | 'clean-up' | 'queued' | 'dead'
  scope: MemoryScope
  key: string
  error: MemoryError
}

export interface FallbackOptions {
  memory: MemoryManager
  /** Keeps writes that the store did not answer. Without a queue they fail as usual. */
  queue?: WriteQueue
  /** Called for every failure that was handled: log it. */
  onDegraded: (degradation: Degradation) => void
  /** What to do with secrets in queued values, tags, types and texts: as the memory does. Default `redact`. */
  redact?: RedactPolicy
  /** Seals queued values that ask for encryption; without it such writes are not queued. */
  encryptionKey?: Uint8Array | KeyRing
  clock?: Clock
}

/** Counts of one `drain`. */
export interface DrainResult {
  written: number
  /** Dropped, because somebody else has written the key since. */
  superseded: number
  /** Still waiting. */
  waiting: number
  /** Failed for good: `queue.items()` shows why. */
  dead: number
}

export interface MemoryFallback {
  /** The value, or what `fallback` returns when the value is absent or cannot be read. */
  readWithFallback<T>(scope: MemoryScope, key: string, fallback: () => Promise<T>): Promise<T>
  /**
   * Writes a value. If the scope is full, cleans up and tries again. If the store does not answer, or an earlier write
   * of the key is still queued, queues the write.
   *
   * @throws MemoryError as `write` does, for every other failure and when there is no queue
   */
  writeWithDegradation<T>(
    scope: MemoryScope,
    key: string,
    value: T,
    options?: WriteOptions,
  ): Promise<WriteOutcome>
  /**
   * Makes the queued writes that are due, oldest first and in order for each key. One process drains at a time.
   *
   * @throws MemoryError CLOSED when the memory is closed; the writes stay queued
   */
  drain(): Promise<DrainResult>
}

/** Milliseconds before the second attempt; doubled for each further one, up to the longest. */
const firstBackoff = 1000
const longestBackoff = 5 * 60_000

/** Milliseconds after which the queue is read again, as another process may have drained it. */
const trustedForMs = 5000

export function createMemoryFallback(options: FallbackOptions): MemoryFallback {
  const { memory, queue, onDegraded, redact = 'redact', clock = systemClock } = options
  const sealer = options.encryptionKey ? createSealer(options.encryptionKey) : undefined
  const redactor = createRedactor(redact)
  const { namespace } = memory
  /** Keys with queued writes, as far as this process knows: later writes of these keys must queue behind them. */
  let waiting: { names: Set<string>; readAt: number } | undefined
  /** Writes that are about to queue behind an earlier one. */
  const entering = new Set<Promise<boolean>>()

  /**
   * Queues a write. It repeats the checks of the memory, which does not see a write that waits for an earlier one. It
   * also redacts and encrypts, so that the queue holds no secret and no plain text of an encrypted value.
   */
  const enqueue = async (
    source: WriteQueue,
    { scope, key }: Address,
    { value, given, queuedAt }: { value: unknown; given: WriteOptions | undefined; queuedAt: number },
  ): Promise<void> => {
    const address = { namespace, scope: parseScope(scope), key: parseKey(key) }
    const options = given === undefined ? undefined : checkOptions(address, given)
    const { text = null, type = null, tags = [] } = options ?? {}
    const clean = redactor(address, { value: toJson(value), text, type, tags })
    const kept = {
      ...address,
      value:
        options?.encrypt && sealer ? await sealer.seal(queuedAddress(address), clean.value) : clean.value,
      ...(options ? { options: { ...options, ...foundByOf(options, clean) } } : {}),
      queuedAt,
    }
    await source.append(kept)
    waiting?.names.add(nameOf(address))
  }

  const checkOptions = (address: Address, given: WriteOptions): WriteOptions => {
    const options = parseInput(writeOptionsSchema, given, 'options') as WriteOptions
    // A value to be encrypted must not be queued in plain text, not even for a moment.
    if (options.encrypt && !sealer) throw noKey(address)
    if (options.encrypt && (options.embedding || options.text)) throw encryptedYetIndexed(address)
    return options
  }

  const fromQueued = async (item: QueueItem): Promise<unknown> => {
    const value = item.value as JsonValue
    if (!item.options?.encrypt || !isEnvelope(value)) return value
    if (!sealer)
      throw new MemoryError('a queued write is encrypted: pass encryptionKey', MemoryErrorCode.NOT_SUPPORTED)
    return sealer.open(queuedAddress(item), value)
  }

  const isWaiting = async (source: WriteQueue, address: Address): Promise<boolean> => {
    const name = nameOf(address)
    if (waiting && !waiting.names.has(name)) return false
    if (!waiting || clock() - waiting.readAt >= trustedForMs) {
      const items = (await source.items()).filter(({ dead }) => !dead)
      waiting = { names: new Set(items.map(nameOf)), readAt: clock() }
    }
    return waiting.names.has(name)
  }

  /**
   * Makes a queued write, unless it was made already or somebody has written the key since. What is written between the
   * look at the key and the write is looked at, too.
   */
  const deliver = async (item: QueueItem, value: unknown): Promise<'written' | 'superseded'> => {
    const { scope, key, options } = item
    for (;;) {
      const record = await memory.read(scope, key, { includeMetadata: true })
      const ifUpdatedAt = record?.metadata.updatedAt
      const standing = record ? standsAgainst(item, value, record) : 'nothing'
      if (standing !== 'nothing') return standing === 'itself' ? 'written' : 'superseded'
      try {
        if (ifUpdatedAt === undefined) await memory.write(scope, key, value, { ...options, overwrite: false })
        else {
          const update = {
            operation: 'set',
            key,
            value,
            ifUpdatedAt,
            ...(options ? { options } : {}),
          } as const
          await memory.atomicUpdate(scope, [update])
        }
        return 'written'
      } catch (error) {
        if (!isMemoryError(error, MemoryErrorCode.CONFLICT)) throw error
        const present = await memory.read(scope, key, { includeMetadata: true })
        // Nobody wrote meanwhile: the write itself asks for a key that is free.
        if (present?.metadata.updatedAt === ifUpdatedAt) throw error
      }
    }
  }

  /** Queues a write if an earlier one of its key is queued; tells whether it did. */
  const queueBehind = async (
    source: WriteQueue,
    address: Address,
    write: Parameters<typeof enqueue>[2],
  ): Promise<boolean> => {
    const behind = isWaiting(source, address).then(async (isBehind) => {
      if (isBehind) await enqueue(source, address, write)
      return isBehind
    })
    entering.add(behind)
    try {
      return await behind
    } finally {
      entering.delete(behind)
    }
  }

  /** Notes in the next queued write of the key which version is ours, before the item that shows it is removed. */
  const handOver = async (source: WriteQueue, next: QueueItem, value: unknown): Promise<void> => {
    const record = await memory.read(next.scope, next.key, { includeMetadata: true })
    if (!record || !equalJson(record.value as JsonValue, toJsonValue(value))) return
    next.follows = record.metadata.updatedAt
    await source.update(next)
  }

  const retry = async (
    source: WriteQueue,
    item: QueueItem,
    findNext: () => Promise<QueueItem | undefined>,
  ): Promise<keyof DrainResult> => {
    const { scope, key } = item
    try {
      const value = await fromQueued(item)
      const outcome = await deliver(item, value)
      const next = outcome === 'written' ? await findNext() : undefined
      if (next) await handOver(source, next, value)
      await source.remove(item.id)
      return outcome
    } catch (error) {
      // A memory that was closed meanwhile says nothing about the write.
      if (!isMemoryError(error) || error.code === MemoryErrorCode.CLOSED) throw error
      const dead = !isPassing(error) && error.code !== MemoryErrorCode.QUOTA_EXCEEDED
      // What this write would have replaced is still ours for the next one.
      const next = dead && item.follows !== undefined ? await findNext() : undefined
      if (next) {
        next.follows = item.follows as number
        await source.update(next)
      }
      const backoff = Math.min(longestBackoff, firstBackoff * 2 ** item.attempts)
      const failed = {
        ...item,
        attempts: item.attempts + 1,
        notBefore: clock() + backoff,
        lastError: error.message,
      }
      await source.update(dead ? { ...failed, dead } : failed)
      if (dead) onDegraded({ kind: 'dead', scope, key, error })
      return dead ? 'dead' : 'waiting'
    }
  }

  const drainAll = async (source: WriteQueue): Promise<DrainResult> => {
    const result: DrainResult = { written: 0, superseded: 0, waiting: 0, dead: 0 }
    const blocked = new Set<string>()
    const all = await source.items()
    const items = all.filter((item) => item.namespace === namespace)
    const followers = followersOf(items)
    const last = all.at(-1)?.id ?? 0
    for (const item of items) {
      const name = nameOf(item)
      /** The next write of the key, which may have been queued since this drain began. */
      const findNext = async (): Promise<QueueItem | undefined> => {
        // One that began before this write was made is dated before it, and must be found.
        await Promise.allSettled(entering)
        return (
          followers.get(item) ??
          (await source.items(last)).find((each) => each.id > last && nameOf(each) === name)
        )
      }
      const isDue = item.notBefore <= clock() && !blocked.has(name)
      const outcome = item.dead ? 'dead' : isDue ? await retry(source, item, findNext) : 'waiting'
      if (outcome === 'waiting') blocked.add(name)
      result[outcome]++
    }
    waiting = undefined
    return result
  }

  /** Writes a value; if the scope is full, cleans it up and tries once more. */
  const writeOrCleanUp = async (
    { scope, key }: Address,
    value: unknown,
    given: WriteOptions | undefined,
  ): Promise<WriteOutcome> => {
    try {
      await memory.write(scope, key, value, given)
      return 'written'
    } catch (error) {
      if (!isMemoryError(error, MemoryErrorCode.QUOTA_EXCEEDED)) throw error
      await memory.cleanup({ scope, ...(scope === evictedScope ? { threshold: evictionThreshold } : {}) })
      await memory.write(scope, key, value, given)
      onDegraded({ kind: 'clean-up', scope, key, error })
      return 'written after clean-up'
    }
  }

  return {
    async readWithFallback<T>(scope: MemoryScope, key: string, fallback: () => Promise<T>): Promise<T> {
      try {
        const value = await memory.read<T>(scope, key)
        if (value !== null) return value
      } catch (error) {
        if (!isMemoryError(error)) throw error
        onDegraded({ kind: 'read', scope, key, error })
      }
      return fallback()
    },

    async writeWithDegradation(scope, key, value, given) {
      const address = { namespace, scope, key }
      // Dated by this call, so that its order among writes does not depend on how long the store takes to fail.
      const write = { value, given, queuedAt: clock() }
      if (queue && (await queueBehind(queue, address, write))) return 'queued'
      try {
        return await writeOrCleanUp(address, value, given)
      } catch (error) {
        if (!queue || !isMemoryError(error) || !isPassing(error) || (given?.encrypt && !sealer)) throw error
        await enqueue(queue, address, write)
        onDegraded({ kind: 'queued', scope, key, error })
        return 'queued'
      }
    },

    async drain() {
      const nothing: DrainResult = { written: 0, superseded: 0, waiting: 0, dead: 0 }
      if (!queue) return nothing
      const source = queue
      const drained = await source.exclusively(() => drainAll(source))
      if (drained) return drained
      const own = (await source.items()).filter((item) => item.namespace === namespace && !item.dead)
      return { ...nothing, waiting: own.length }
    },
  }
}

/** The store may answer the same call later: it timed out, cannot be reached or is too busy. */
const isPassing = ({ code }: MemoryError): boolean => errorStatus[code].retryable

const nameOf = ({ namespace, scope, key }: Address): string => JSON.stringify([namespace, scope, key])

/** What the memory holds under the key: nothing newer than the queued write, the write itself, or a later write. */
function standsAgainst(
  { queuedAt, follows, options }: QueueItem,
  value: unknown,
  record: { value: unknown; metadata: MemoryMetadata },
): 'nothing' | 'itself' | 'a later write' {
  const { updatedAt } = record.metadata
  if (updatedAt === follows) return 'nothing'
  // The attempt that timed out may have succeeded all the same. An older entry may have other options.
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

/** The redacted text, type and tags, as far as they were given. */
const foundByOf = (
  given: WriteOptions,
  { text, type, tags }: { text: string | null; type: string | null; tags: string[] },
): WriteOptions => ({
  ...(given.text === undefined || text === null ? {} : { text }),
  ...(given.type === undefined || type === null ? {} : { type }),
  ...(given.tags === undefined ? {} : { tags }),
})

/** An address apart from the entry's own, so that a value sealed for the queue opens nowhere else. */
const queuedAddress = ({ namespace, scope, key }: Address): Address => ({
  namespace: `queue:${namespace}`,
  scope,
  key,
})
