import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { localEmbedder } from '@recall/embeddings/local'

const memory = createMemoryManager({ stores: createInMemoryStore(), embedder: localEmbedder() })

await memory.write('long-term', 'incident', 'The automobile would not start in the cold.')
const [match] = await memory.search('long-term', { text: 'car trouble' })
console.log(`${match?.key}, ${match?.mode}`) // incident, hybrid
await memory.close()
