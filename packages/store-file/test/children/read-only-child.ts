import { strict as assert } from 'node:assert'
import { isMemoryError, type MemoryManager } from '@recall/core'
import { openFileMemory } from '../../src/open-file-memory.ts'

/** Fills a memory, or checks what still works when its disk is mounted read-only. */
const [root = '', step] = process.argv.slice(2)

async function fill(memory: MemoryManager): Promise<void> {
  await memory.write('long-term', 'old', 'the old text')
  await memory.write('short-term', 'brief', 'the old text')
  await memory.search('long-term', { text: 'old' })
}

async function check(memory: MemoryManager): Promise<void> {
  assert.equal(await memory.read('long-term', 'old'), 'the old text')
  assert.equal(await memory.read('short-term', 'brief'), 'the old text')
  assert.equal((await memory.search('long-term', { text: 'old' })).length, 1)
  const writes = [
    () => memory.write('long-term', 'old', 'new'),
    () => memory.write('long-term', 'MEMORY.md#part', 'new'),
    () => memory.delete('long-term', 'old'),
  ]
  for (const write of writes) {
    const failure = await write().catch((error: unknown) => error)
    assert(isMemoryError(failure, 'MEMORY_WRITE_FAILED'), String(failure))
    assert(failure.message.includes(root), failure.message)
  }
}

const memory = await openFileMemory({ root })
await (step === 'fill' ? fill(memory) : check(memory))
await memory.close()
process.stdout.write('ok\n')
