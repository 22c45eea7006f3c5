import { createInMemoryStore, createMemoryManager } from '@recall/core'

const memory = createMemoryManager({ stores: createInMemoryStore() })

const writes = Array.from({ length: 100 }, (_, n) => ({ key: `key${n}`, value: n }))
await memory.batchWrite('long-term', writes)
const values = await memory.batchRead<number>('long-term', ['key7', 'key42', 'key100'])
console.log(values) // Map(2) { 'key7' => 7, 'key42' => 42 }
