import { createInMemoryStore, createMemoryManager } from '@recall/core'

const memory = createMemoryManager({ stores: createInMemoryStore() })

await memory.write('episodic', 'episode:1', { outcome: 'failure', toolsUsed: ['browser'], duration: 900 })
await memory.write('episodic', 'episode:2', {
  outcome: 'success',
  toolsUsed: ['browser', 'sql'],
  duration: 300,
})

const quick = await memory.search('episodic', {
  filters: { toolsUsed: { $overlap: ['sql'] }, duration: { lt: 500 } },
})
console.log(quick.map(({ key }) => key)) // [ 'episode:2' ]
