import { createTicker } from '../src/conformance/ticker.ts'
import { createMemoryManager } from '../src/front/create-memory-manager.ts'
import { createInMemoryStore } from '../src/stores/in-memory-store.ts'

/** A memory with a clock of its own, which stands until it is told to go on. */
export function openMemory() {
  const time = createTicker()
  const stores = createInMemoryStore()
  return { time, stores, memory: createMemoryManager({ stores, clock: time.clock }) }
}
