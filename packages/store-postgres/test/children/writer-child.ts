import { openPgliteMemory } from '../../src/pglite.ts'

/** Writes until it is killed, and says what was acknowledged. */
const memory = await openPgliteMemory({ folder: process.argv[2] ?? '' })
for (let i = 0; ; i++) {
  await memory.write('long-term', `key ${i}`, { i, text: 'the pool leaks' })
  process.send?.(`key ${i}`)
}
