import { createInMemoryStore, createMemoryManager } from '@recall/core'

const memory = createMemoryManager({ stores: createInMemoryStore() })

await memory.write('long-term', 'deploy', 'Run the migrations before the API starts.')
const [found] = await memory.search('long-term', { text: 'migration' })
console.log(found?.value) // Run the migrations before the API starts.
