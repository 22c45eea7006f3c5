import { strict as assert } from 'node:assert'
import { unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMemoryError } from '@recall/core'
import { openFileMemory } from '../../src/open-file-memory.ts'

/** Fills the disk it is given and checks what still works. */
const root = process.argv[2] as string
const notices: string[] = []
const open = () => openFileMemory({ root, redact: 'allow', onNotice: (text) => notices.push(text) })
const memory = await open()
await memory.write('long-term', 'old', 'the old text is whole')
await memory.write('short-term', 'brief', 'whole for an hour')
await memory.search('long-term', { text: 'old' })

const ballast: string[] = []
for (let size = 65_536; size >= 1; ) {
  const path = join(root, `ballast-${ballast.length}`)
  try {
    writeFileSync(path, 'x'.repeat(size))
    ballast.push(path)
  } catch {
    ballast.push(path)
    size = Math.floor(size / 2)
  }
}

const failure = await memory.write('long-term', 'old', 'new '.repeat(20_000)).catch((error: unknown) => error)
assert(isMemoryError(failure, 'MEMORY_WRITE_FAILED'), String(failure))
assert.match(failure.message, /ENOSPC/)
assert(failure.message.includes(root))
assert.equal(await memory.read('long-term', 'old'), 'the old text is whole')
assert.equal(await memory.read('short-term', 'brief'), 'whole for an hour')
assert.equal((await memory.search('long-term', { text: 'whole' })).length, 1)
assert.equal((await memory.search('short-term', { text: 'whole' })).length, 1)
await memory.close()

const other = await open()
assert.equal(await other.read('long-term', 'old'), 'the old text is whole')
assert.equal(await other.read('short-term', 'brief'), 'whole for an hour')
assert.equal((await other.search('long-term', { text: 'whole' })).length, 1)
await other.delete('long-term', 'old')
assert.equal(await other.read('long-term', 'old'), null)
assert.equal((await other.search('long-term', { text: 'whole' })).length, 0)

for (const path of ballast) unlinkSync(path)
await other.write('long-term', 'next', 'goes on')
await other.write('long-term', 'MEMORY.md#part', 'goes on too')
assert.equal((await other.search('long-term', { text: 'goes' })).length, 2)
await other.close()
const later = await open()
assert.equal((await later.search('long-term', { text: 'goes' })).length, 2)
await later.close()
process.stdout.write(`ok ${notices.length} notices\n`)
