import { createInMemoryStore, createMemoryManager } from '@recall/core'

let now = Date.UTC(2026, 0, 1)
const memory = createMemoryManager({ stores: createInMemoryStore(), clock: () => now })

await memory.write('short-term', 'brief', 1, { ttl: 1000 })
await memory.write('short-term', 'kept', 1, { ttl: Number.POSITIVE_INFINITY })
now += 1000
console.log((await memory.search('short-term', {})).map(({ key }) => key)) // [ 'kept' ]
console.log((await memory.cleanup({ scope: 'short-term', threshold: 0 })).deleted) // 1
