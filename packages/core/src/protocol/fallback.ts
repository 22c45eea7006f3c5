import { type Clock, systemClock } from '../clock.ts'
import { createSealer, isEnvelope, type KeyRing } from '../encryption.ts'
import { noClue, noKey, toJson } from '../entry-factory.ts'
import { errorStatus, isMemoryError, MemoryError, MemoryErrorCode } from '../errors.ts'
import { equalJson } from '../filter/matches-filter.ts'
import { parseInput, parseKey, parseScope, writeOptionsSchema } from '../inputs.ts'
import { type JsonValue, toJsonValue } from '../json.ts'
import type { MemoryManager, WriteOptions } from '../memory-manager.ts'
import type { Address } from '../memory-store.ts'
import { evictedScope, evictionThreshold } from '../quotas.ts'
import { createRedactor, type RedactPolicy } from '../redaction/redactor.ts'
import type { MemoryScope } from '../scope.ts'
import type { QueueItem, WriteQueue } from './write-queue.ts'

/** How a write ended that did not fail. Only `queued` is not in the memory yet. */
export type WriteOutcome = 'written' | 'written after clean-up' | 'queued'

/** Something was not as it should be, and was dealt with. */
export interface Degradation {
  kind: 'read' | 'clean-up' | 'queued' | 'dead'
  scope: MemoryScope
  key: string
  error: MemoryError
}

export interface FallbackOptions {
  memory: MemoryManager
  /** Where writes wait that the store did not answer. Without one they fail as usual. */
  queue?: WriteQueue
  /** Told of everything that was not as it should be: log it. */
  onDegraded: (degradation: Degradation) => void
  /** What to do with secrets before a write is queued, its tags, type and text too; as in the memory. Default `redact`. */
  redact?: RedactPolicy
  /** Seals queued values that ask for encryption; without it such writes are not queued. */
  encryptionKey?: Uint8Array | KeyRing
  clock?: Clock
}

/** Counts of one `drain`. */
export interface DrainResult {
  written: number
  /** Left, because somebody has written the key since. */
  superseded: number
  /** Still waiting. */
  waiting: number
  /** Failed for good: `queue.items()` shows why. */
  dead: number
}

export interface MemoryFallback {
  /** The value; what `fallback` gives when it is absent or cannot be read. */
  readWithFallback<T>(scope: MemoryScope, key: string, fallback: () => Promise<T>): Promise<T>
  /**
   * Writes; when the scope is full cleans up and tries again; when the store does not answer, or an earlier write of
   * the key still waits, puts the write into the queue.
   *
   * @throws MemoryError as `write` does, for every other failure and when there is no queue
   */
  writeWithDegradation<T>(
    scope: MemoryScope,
    key: string,
    value: T,
    options?: WriteOptions,
  ): Promise<WriteOutcome>
  /** Writes what waits and is due, oldest first and each key in order. One process drains at a time. */
  drain(): Promise<DrainResult>
}

/** Wait before the second attempt; doubled each time, up to the longest. Milliseconds. */
const firstBackoff = 1000
const longestBackoff = 5 * 60_000

export function createMemoryFallback(options: FallbackOptions): MemoryFallback {
  const { memory, queue, onDegraded, redact = 'redact', clock = systemClock } = options
  const sealer = options.encryptionKey ? createSealer(options.encryptionKey) : undefined
  const redactor = createRedactor(redact)
  const { namespace } = memory
  /** Keys whose writes wait, as far as this process knows: their order must hold. */
  let waiting: Set<string> | undefined

  /**
   * What the memory would refuse is refused here as well: a write that has to wait for an earlier one is not seen by
   * the memory now. No secret and nothing that is to be encrypted lies in the queue as it is.
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
    waiting?.add(nameOf(address))
  }

  const checkOptions = (address: Address, given: WriteOptions): WriteOptions => {
    const options = parseInput(writeOptionsSchema, given, 'options') as WriteOptions
    // What is to be encrypted is not laid down in plain text, not even for a moment.
    if (options.encrypt && !sealer) throw noKey(address)
    if (options.encrypt && (options.embedding || options.text)) throw noClue(address)
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
    waiting ??= new Set((await source.items()).filter(({ dead }) => !dead).map(nameOf))
    return waiting.has(nameOf(address))
  }

  /** Whether a write of somebody else stands there that is younger than the queued one. */
  const standsAgainst = async (
    item: QueueItem,
    value: unknown,
  ): Promise<'nothing' | 'itself' | 'a later write'> => {
    const record = await memory.read(item.scope, item.key, { includeMetadata: true })
    if (!record) return 'nothing'
    // The attempt that timed out may have been made all the same.
    if (equalJson(record.value as JsonValue, toJsonValue(value))) return 'itself'
    const { updatedAt } = record.metadata
    return updatedAt > item.queuedAt && updatedAt !== item.follows ? 'a later write' : 'nothing'
  }

  /** Tells the next write of the key which version is ours, before the item goes that says so by itself. */
  const handOver = async (source: WriteQueue, next: QueueItem, value: unknown): Promise<void> => {
    const record = await memory.read(next.scope, next.key, { includeMetadata: true })
    if (!record || !equalJson(record.value as JsonValue, toJsonValue(value))) return
    next.follows = record.metadata.updatedAt
    await source.update(next)
  }

  const retry = async (
    source: WriteQueue,
    item: QueueItem,
    next: QueueItem | undefined,
  ): Promise<keyof DrainResult> => {
    const { scope, key } = item
    try {
      const value = await fromQueued(item)
      const standing = await standsAgainst(item, value)
      if (standing === 'nothing') await memory.write(scope, key, value, item.options)
      if (next && standing !== 'a later write') await handOver(source, next, value)
      await source.remove(item.id)
      return standing === 'a later write' ? 'superseded' : 'written'
    } catch (error) {
      if (!isMemoryError(error)) throw error
      const dead = !isPassing(error) && error.code !== MemoryErrorCode.QUOTA_EXCEEDED
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
    const items = (await source.items()).filter((item) => item.namespace === namespace)
    const followers = followersOf(items)
    for (const item of items) {
      const name = nameOf(item)
      const next = followers.get(item)
      const isDue = item.notBefore <= clock() && !blocked.has(name)
      const outcome = item.dead ? 'dead' : isDue ? await retry(source, item, next) : 'waiting'
      if (outcome === 'waiting') blocked.add(name)
      result[outcome]++
    }
    waiting = undefined
    return result
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
      // Its place among other writes is that of this call, however long the store takes not to answer.
      const write = { value, given, queuedAt: clock() }
      if (queue && (await isWaiting(queue, address))) {
        await enqueue(queue, address, write)
        return 'queued'
      }
      try {
        await memory.write(scope, key, value, given)
        return 'written'
      } catch (error) {
        if (!isMemoryError(error)) throw error
        if (error.code === MemoryErrorCode.QUOTA_EXCEEDED) {
          await memory.cleanup({ scope, ...(scope === evictedScope ? { threshold: evictionThreshold } : {}) })
          await memory.write(scope, key, value, given)
          onDegraded({ kind: 'clean-up', scope, key, error })
          return 'written after clean-up'
        }
        if (!queue || !isPassing(error) || (given?.encrypt && !sealer)) throw error
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

/** The next write of the same key, for each that has one. */
function followersOf(items: readonly QueueItem[]): Map<QueueItem, QueueItem> {
  const followers = new Map<QueueItem, QueueItem>()
  const last = new Map<string, QueueItem>()
  for (const item of items) {
    const earlier = last.get(nameOf(item))
    if (earlier) followers.set(earlier, item)
    last.set(nameOf(item), item)
  }
  return followers
}

/** The options as they may be kept: only those that were given. */
const foundByOf = (
  given: WriteOptions,
  { text, type, tags }: { text: string | null; type: string | null; tags: string[] },
): WriteOptions => ({
  ...(given.text === undefined || text === null ? {} : { text }),
  ...(given.type === undefined || type === null ? {} : { type }),
  ...(given.tags === undefined ? {} : { tags }),
})

/** Another place than the entry's own: what is sealed for the queue opens nowhere else. */
const queuedAddress = ({ namespace, scope, key }: Address): Address => ({
  namespace: `queue:${namespace}`,
  scope,
  key,
})
