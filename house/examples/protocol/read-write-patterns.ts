import { createInMemoryStore, createMemoryManager } from '@recall/core'

const memory = createMemoryManager({ stores: createInMemoryStore() })

await memory.write('short-term', 'login', { user: 'ada', password: 'correct horse battery' })
console.log(await memory.read('short-term', 'login')) // { user: 'ada', password: '[redacted:password]' }
