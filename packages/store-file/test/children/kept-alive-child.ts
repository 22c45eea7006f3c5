import { strict as assert } from 'node:assert'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openFileMemory } from '../../src/open-file-memory.ts'

/** Writes a memory that a read keeps alive beyond its first expiry, or checks that it lives. */
const [root = '', step] = process.argv.slice(2)
const minute = 60_000
const written = Date.parse('2026-11-18T10:00:00Z')
let now = written
const memory = await openFileMemory({ root, clock: () => now })
if (step === 'fill') {
  await memory.write('short-term', 'brief', 'whole for an hour')
  now = written + 50 * minute
  assert.equal(await memory.read('short-term', 'brief'), 'whole for an hour')
} else {
  now = written + 90 * minute
  assert.equal(await memory.read('short-term', 'brief'), 'whole for an hour')
  assert.equal((await memory.search('short-term', { text: 'whole' })).length, 1)
  await memory.cleanup().catch(() => {})
  assert.equal(await memory.read('short-term', 'brief'), 'whole for an hour')
}
await memory.close()
assert(!readdirSync(join(root, 'memory/.recall')).some((name) => name.includes('corrupt')))
process.stdout.write('ok\n')
