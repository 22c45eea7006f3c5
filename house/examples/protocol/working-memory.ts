import { createInMemoryStore, createMemoryManager } from '@recall/core'

const memory = createMemoryManager({ stores: createInMemoryStore() })

await memory.write('working', 'goal', { description: 'scrape the price list' })
await memory.write('working', 'perception', { pages: 3 })
console.log(await memory.batchRead('working', ['goal', 'perception', 'decision']))
// Map(2) { 'goal' => { description: 'scrape the price list' }, 'perception' => { pages: 3 } }
await memory.clear('working')
console.log(await memory.read('working', 'goal')) // null
