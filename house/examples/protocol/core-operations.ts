import { createInMemoryStore, createMemoryManager } from '@recall/core'

const memory = createMemoryManager({ stores: createInMemoryStore() })

await memory.write('long-term', 'key', { n: 1 })
console.log(await memory.exists('long-term', 'key')) // true
console.log(await memory.read('long-term', 'key')) // { n: 1 }
console.log((await memory.search('long-term', { filters: { n: { gt: 0 } } })).length) // 1
await memory.delete('long-term', 'key')
await memory.clear('long-term', { tags: ['draft'] })
const { deleted, archived, errors } = await memory.cleanup()
console.log(deleted, archived, errors) // 0 0 []
