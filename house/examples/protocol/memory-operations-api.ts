import { createInMemoryStore, createMemoryManager, type MemoryManager } from '@recall/core'

const memory: MemoryManager = createMemoryManager({ stores: createInMemoryStore(), namespace: 'ada' })
const other: MemoryManager = createMemoryManager({ stores: createInMemoryStore() })

console.log(memory.namespace, other.namespace) // ada default
console.log(memory.capabilities.episodic) // { durable: false, semantic: true, archive: true }
await memory.close()
await other.close()
