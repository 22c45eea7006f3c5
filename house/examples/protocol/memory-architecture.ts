import { createInMemoryStore, createMemoryManager } from '@recall/core'

const forAMoment = createInMemoryStore()
const lasting = createInMemoryStore()
const memory = createMemoryManager({
  stores: { working: forAMoment, 'short-term': forAMoment, 'long-term': lasting, episodic: lasting },
})

await memory.write('working', 'step', 1)
await memory.write('episodic', 'run', { outcome: 'success' })
console.log(await memory.exists('working', 'run')) // false
console.log(await memory.read('episodic', 'run')) // { outcome: 'success' }
