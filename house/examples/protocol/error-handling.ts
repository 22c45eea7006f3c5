import { createInMemoryStore, createMemoryManager, isMemoryError } from '@recall/core'

const memory = createMemoryManager({ stores: createInMemoryStore() })

try {
  await memory.write('long-term', 'clock', { now: () => 0 })
} catch (error) {
  if (isMemoryError(error)) console.log(error.code, error.message)
  // MEMORY_INVALID_INPUT value.now is a function, which JSON cannot hold
}
