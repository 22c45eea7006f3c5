import { createInMemoryStore, createMemoryManager, MemoryError, MemoryErrorCode } from '@recall/core'
import { createInMemoryQueue, createMemoryFallback } from '@recall/core/protocol'

let isDown = true
const store = createInMemoryStore()
const memory = createMemoryManager({
  stores: {
    ...store,
    async put(entry, options) {
      if (isDown) throw new MemoryError('no answer in 5 s', MemoryErrorCode.TIMEOUT)
      await store.put(entry, options)
    },
  },
})
const fallback = createMemoryFallback({
  memory,
  queue: createInMemoryQueue(),
  onDegraded: ({ kind, key, error }) => console.log(kind, key, error.code),
})

console.log(await fallback.readWithFallback('long-term', 'theme', async () => 'light')) // light
const outcome = await fallback.writeWithDegradation('long-term', 'theme', 'dark') // queued theme MEMORY_TIMEOUT
console.log(outcome) // queued
isDown = false
console.log((await fallback.drain()).written) // 1
console.log(await fallback.readWithFallback('long-term', 'theme', async () => 'light')) // dark
