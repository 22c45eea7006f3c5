import { createInMemoryStore, createMemoryManager } from '@recall/core'

let now = Date.UTC(2026, 0, 1)
const memory = createMemoryManager({ stores: createInMemoryStore(), clock: () => now })

await memory.write('episodic', 'episode:1', { outcome: 'success', text: 'moved the database' })
now += 91 * 24 * 3600_000
console.log((await memory.cleanup({ scope: 'episodic' })).archived) // 1
console.log((await memory.search('episodic', { text: 'database' })).length) // 0

const [old] = await memory.search('episodic', { text: 'database' }, { includeArchived: true })
console.log(old?.key, old?.archived) // episode:1 true
console.log(await memory.restore('episodic', 'episode:1')) // true
console.log(await memory.exists('episodic', 'episode:1')) // true
