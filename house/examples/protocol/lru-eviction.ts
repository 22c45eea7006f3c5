import { createInMemoryStore, createMemoryManager } from '@recall/core'

let now = Date.UTC(2026, 0, 1)
const policies = { quotas: { 'short-term': 1000 } }
const memory = createMemoryManager({ stores: createInMemoryStore(), policies, clock: () => now++ })

for (const key of ['a', 'b', 'c']) await memory.write('short-term', key, 'x'.repeat(298))
await memory.read('short-term', 'a')
console.log((await memory.cleanup({ threshold: 0.8 })).deleted) // 1
console.log(await memory.exists('short-term', 'a'), await memory.exists('short-term', 'b')) // true false
