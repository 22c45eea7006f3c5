import { LRUCache } from 'lru-cache'
import { type Clock, systemClock } from '../clock.ts'
import { isMemoryError, type MemoryError, MemoryErrorCode } from '../errors.ts'
import type { KeyRing } from '../front/encryption.ts'
import { checkAddress } from '../front/inputs.ts'
import { canNeverFit, evictionThreshold } from '../front/quotas.ts'
import type { MemoryManager, WriteOptions } from '../memory-manager.ts'
import type { Address } from '../memory-store.ts'
import { parseInput } from '../parse-input.ts'
import type { RedactPolicy } from '../redaction/redactor.ts'
import type { ValueSchemas } from '../schemas.ts'
import type { MemoryScope } from '../scope.ts'
import { tell } from '../tell.ts'
import { type DrainResult, drainQueue, isPassing, nameOf, nothingDrained } from './drain-queue.ts'
import { fallbackOptionsSchema } from './inputs.ts'
import { type AskedWrite, createQueuedValues } from './queued-values.ts'
import type { WriteQueue } from './write-queue.ts'

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
  queue?: WriteQueue | undefined
  /** Called for every failure that was handled: log it. Its errors are ignored. */
  onDegraded: (degradation: Degradation) => void
  /**
   * Schemas that check queued values, the same as the memory's. Without them, if a schema of the memory changes values
   * (by defaults, for example), only the first of several queued writes is made: its stored value looks like somebody
   * else's.
   */
  schemas?: ValueSchemas | undefined
  /** What to do with secrets in queued values, tags, types and texts: use the memory's policy. Default `redact`. */
  redact?: RedactPolicy | undefined
  /** Seals queued values that ask for encryption; without it such writes are not queued. */
  encryptionKey?: Uint8Array | KeyRing | undefined
  clock?: Clock | undefined
}

export interface MemoryFallback {
  /**
   * The value, or what `fallback` returns when the value is absent or cannot be read.
   *
   * @throws MemoryError INVALID_INPUT for an invalid scope or key
   */
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

/** Most keys whose last write by this process is remembered. */
const mostKnown = 10_000

/** Milliseconds after which the queue is read again, because another process may have drained it. */
const trustedForMs = 5000

/**
 * Reads and writes that keep working while the memory's store is full or unreachable. Calls made on the memory itself
 * bypass the queue.
 *
 * @throws MemoryError INVALID_INPUT when an option is missing, wrong or unknown
 */
export function createMemoryFallback(options: FallbackOptions): MemoryFallback {
  parseInput(fallbackOptionsSchema, options, 'options')
  const { memory, queue, schemas, redact = 'redact', encryptionKey, clock = systemClock } = options
  const degraded = (degradation: Degradation): void => void tell(options.onDegraded, degradation)
  const values = createQueuedValues({ schemas, redact, encryptionKey })
  const { namespace } = memory
  /** Keys with queued writes, as far as this process knows: later writes of these keys must queue behind them. */
  let waiting: { names: Set<string>; readAt: number } | undefined
  /** Writes that are about to queue behind an earlier one. */
  const entering = new Set<Promise<boolean>>()
  /**
   * The time of this process's last write of each key. It is ahead of the clock when the clock was set back or several
   * writes fell into one millisecond, so that a write that is queued then does not look older.
   */
  const ownWrites = new LRUCache<string, number>({ max: mostKnown })

  const lastOwn = (address: Address): number => ownWrites.get(nameOf(address)) ?? Number.NEGATIVE_INFINITY

  /** Called before the write, which may take effect even if it fails. */
  const noteOwn = (address: Address): void =>
    void ownWrites.set(nameOf(address), Math.max(clock(), lastOwn(address) + 1))

  const enqueue = async (source: WriteQueue, address: Address, write: AskedWrite): Promise<void> => {
    const item = await source.append(await values.pack(address, write))
    waiting?.names.add(nameOf(item))
  }

  const isWaiting = async (source: WriteQueue, address: Address): Promise<boolean> => {
    const name = nameOf(address)
    if (waiting && !waiting.names.has(name)) return false
    // After the clock was set back, the age is unknown.
    const age = waiting ? clock() - waiting.readAt : Number.POSITIVE_INFINITY
    if (!waiting || age < 0 || age >= trustedForMs) {
      const items = (await source.items()).filter(({ dead }) => !dead)
      waiting = { names: new Set(items.map(nameOf)), readAt: clock() }
    }
    return waiting.names.has(name)
  }

  /** Queues a write if an earlier one of its key is queued; returns whether it did. */
  const queueBehind = async (source: WriteQueue, address: Address, write: AskedWrite): Promise<boolean> => {
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

  /** Writes a value; if the scope is full, cleans it up and tries once more. */
  const writeOrCleanUp = async (
    address: Address,
    value: unknown,
    given: WriteOptions | undefined,
  ): Promise<WriteOutcome> => {
    const { scope, key } = address
    try {
      noteOwn(address)
      await memory.write(scope, key, value, given)
      return 'written'
    } catch (error) {
      if (!isMemoryError(error, MemoryErrorCode.QUOTA_EXCEEDED) || canNeverFit(error)) throw error
      await memory.cleanup({ scope, threshold: evictionThreshold })
      noteOwn(address)
      await memory.write(scope, key, value, given)
      degraded({ kind: 'clean-up', scope, key, error })
      return 'written after clean-up'
    }
  }

  return {
    async readWithFallback<T>(scope: MemoryScope, key: string, fallback: () => Promise<T>): Promise<T> {
      // Returning the fallback for an invalid address would hide the mistake.
      checkAddress({ namespace, scope, key })
      try {
        // Read with its metadata, because a stored null is a value.
        const record = await memory.read<T>(scope, key, { includeMetadata: true })
        if (record !== null) return record.value
      } catch (error) {
        if (!isMemoryError(error)) throw error
        degraded({ kind: 'read', scope, key, error })
      }
      return fallback()
    },

    async writeWithDegradation(scope, key, value, given) {
      const address = { namespace, scope, key }
      // Dated by this call, so that its order among writes does not depend on how long the store takes to fail.
      const write = { value, options: given, queuedAt: Math.max(clock(), lastOwn(address)) }
      if (queue && (await queueBehind(queue, address, write))) return 'queued'
      try {
        return await writeOrCleanUp(address, value, given)
      } catch (error) {
        if (!queue || !isMemoryError(error) || !isPassing(error) || !values.canPack(given)) throw error
        await enqueue(queue, address, write)
        degraded({ kind: 'queued', scope, key, error })
        return 'queued'
      }
    },

    async drain() {
      if (!queue) return nothingDrained()
      const drained = await queue.exclusively(async () => {
        const result = await drainQueue({
          memory,
          queue,
          valueOf: values.unpack,
          entered: () => Promise.allSettled(entering),
          onAttempt: noteOwn,
          onDead: ({ scope, key }, error) => degraded({ kind: 'dead', scope, key, error }),
          clock,
        })
        waiting = undefined
        return result
      })
      if (drained) return drained
      const own = (await queue.items()).filter((item) => item.namespace === namespace && !item.dead)
      return { ...nothingDrained(), waiting: own.length }
    },
  }
}
