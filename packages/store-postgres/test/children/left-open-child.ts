import { openPostgresMemory } from '../../src/postgres.ts'

/** Writes into a memory on a server, and leaves it open. */
const memory = await openPostgresMemory({ url: process.argv[2] ?? '' })
await memory.write('long-term', 'key', 'value')
