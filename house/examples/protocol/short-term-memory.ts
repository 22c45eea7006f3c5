import { createInMemoryStore, createMemoryManager } from '@recall/core'

let now = Date.UTC(2026, 0, 1)
const memory = createMemoryManager({ stores: createInMemoryStore(), clock: () => now })

await memory.write('short-term', 'weather', { sky: 'clear' }, { ttl: 60_000 })
now += 50_000
console.log(await memory.read('short-term', 'weather')) // { sky: 'clear' }
now += 50_000
const entry = await memory.read('short-term', 'weather', { includeMetadata: true })
console.log(entry?.metadata.accessCount, (entry?.metadata.expiresAt ?? 0) - now) // 2 60000
now += 60_000
console.log(await memory.read('short-term', 'weather')) // null
