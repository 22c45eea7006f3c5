import { createInMemoryStore, createMemoryManager } from '@recall/core'

let now = Date.UTC(2026, 0, 1)
const memory = createMemoryManager({ stores: createInMemoryStore(), clock: () => now })

await memory.write('short-term', 'key', 1)
now += 3600_000
console.log((await memory.cleanup({ dryRun: true })).deleted) // 1
console.log((await memory.cleanup({ scope: 'short-term' })).deleted) // 1
console.log((await memory.cleanup()).deleted) // 0
