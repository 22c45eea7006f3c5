import {
  createInMemoryStore,
  createMemoryManager,
  type MemoryMatch,
  type MemoryScope,
  rotateEncryption,
  type SearchOptions,
  type SearchQuery,
  type WriteOptions,
} from '@recall/core'

const randomKey = (): Uint8Array => crypto.getRandomValues(new Uint8Array(32))
const keys = { spring: randomKey(), autumn: randomKey() }
const stores = createInMemoryStore()
const memory = createMemoryManager({ stores, encryptionKey: { current: 'spring', keys } })

const scope: MemoryScope = 'long-term'
const options: WriteOptions = { encrypt: true, tags: ['private'], overwrite: true }
await memory.write(scope, 'diary', 'I like tea.', options)

const query: SearchQuery = { tags: ['private'] }
const order: SearchOptions = { limit: 5, sortBy: 'recency', sortOrder: 'desc' }
const [match]: MemoryMatch<string>[] = await memory.search<string>(scope, query, order)
console.log(match?.value, match?.metadata.encrypted) // I like tea. true
console.log((await memory.search(scope, { text: 'tea' })).length) // 0

const result = await rotateEncryption({ stores, encryptionKey: { current: 'autumn', keys } })
console.log(result.rotated, result.errors) // 1 []
