import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { createMemoryCache } from '@recall/core/protocol'

const stores = createInMemoryStore()
const memory = createMemoryManager({ stores, cache: createMemoryCache({ maxBytes: 1_000_000 }) })
const other = createMemoryManager({ stores })

await memory.write('long-term', 'theme', 'light')
console.log(await memory.read('long-term', 'theme'), await memory.read('long-term', 'theme')) // light light
await other.write('long-term', 'theme', 'dark')
console.log(await memory.read('long-term', 'theme')) // dark
