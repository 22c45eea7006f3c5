import { createInMemoryStore, createMemoryManager } from '@recall/core'

let now = Date.UTC(2026, 0, 1)
const memory = createMemoryManager({ stores: createInMemoryStore(), clock: () => now })

for (const scope of ['short-term', 'long-term', 'episodic'] as const) await memory.write(scope, 'key', scope)
now += 100 * 24 * 3600_000
await memory.cleanup()
console.log(await memory.read('short-term', 'key')) // null
console.log(await memory.read('long-term', 'key')) // long-term
console.log(await memory.restore('episodic', 'key')) // true
