import { createInMemoryStore, createMemoryManager, memoryScopes } from '@recall/core'

const memory = createMemoryManager({ stores: createInMemoryStore() })

for (const scope of memoryScopes) await memory.write(scope, 'key', `in ${scope}`)
console.log(await memory.read('short-term', 'key')) // in short-term
