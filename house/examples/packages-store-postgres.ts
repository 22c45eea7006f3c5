import { openPgliteMemory } from '@recall/store-postgres/pglite'

const memory = await openPgliteMemory({ folder: 'memory-db' })
await memory.write('long-term', 'pool', { lesson: 'Raise the connection pool before a load test', stars: 5 })

const [found] = await memory.search('long-term', { text: 'connection pools', filters: { stars: { gte: 4 } } })
console.log(found?.key)

await memory.close()
