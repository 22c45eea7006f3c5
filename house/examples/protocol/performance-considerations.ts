import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { observeMemory } from '@recall/core/protocol'

const memory = observeMemory(
  createMemoryManager({ stores: createInMemoryStore() }),
  ({ name, scope, count }) => console.log(name, scope, count),
)
await memory.search('long-term', { text: 'anything' }) // search long-term 0
