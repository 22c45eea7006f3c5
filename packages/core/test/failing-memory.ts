import { createTicker } from '../src/conformance/ticker.ts'
import { MemoryError, type MemoryErrorCode } from '../src/errors.ts'
import { createMemoryManager } from '../src/front/create-memory-manager.ts'
import type { MemoryStore } from '../src/memory-store.ts'
import { createMemoryFallback, type Degradation, type FallbackOptions } from '../src/protocol/fallback.ts'
import { createInMemoryQueue } from '../src/protocol/write-queue.ts'
import { createInMemoryStore } from '../src/stores/in-memory-store.ts'

/** A memory whose store fails as it is told to, with a queue and a fallback. */
export function openFailing(options: Partial<FallbackOptions> = {}) {
  const sound = createInMemoryStore()
  const time = createTicker()
  let failure: MemoryErrorCode | null = null
  const failing =
    <Given extends unknown[], Answer>(call: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      if (failure) throw new MemoryError('no answer', failure)
      return call(...given)
    }
  const stores: MemoryStore = { ...sound, put: failing(sound.put), get: failing(sound.get) }
  const encryptionKey = new Uint8Array(32)
  const policies = { quotas: { 'short-term': 100, 'long-term': 300 } }
  const { schemas = {} } = options
  const memory = createMemoryManager({ stores, clock: time.clock, encryptionKey, policies, schemas })
  const queue = createInMemoryQueue()
  const told: Degradation[] = []
  const fallback = createMemoryFallback({
    memory,
    queue,
    clock: time.clock,
    onDegraded: (each) => told.push(each),
    ...options,
  })
  const failWith = (code: MemoryErrorCode | null): void => {
    failure = code
  }
  return { memory, queue, time, told, fallback, failWith }
}
