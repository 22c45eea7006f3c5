import { createMemoryManager, isMemoryError, MemoryErrorCode, type MemoryManager } from '@recall/core'
import { openFileStore } from '../../src/open-file-memory.ts'

/**
 * One of two processes on an entry. The writer overwrites it, says after each write what it then reads, and ends;
 * the other one does the same thing to it over and over until it is told to stop.
 */
const [root = '', role = '', count = '0'] = process.argv.slice(2)
const memory = createMemoryManager({ stores: await openFileStore({ root }) })
const archived = { includeArchived: true } as const

async function write(): Promise<number> {
  let lost = 0
  for (let n = 1; n <= Number(count); n++) {
    await memory.write('episodic', 'key', { n })
    const read = await memory.read<{ n: number }>('episodic', 'key', archived)
    if (read?.n !== n) lost++
  }
  return lost
}

const others: Record<string, (memory: MemoryManager) => Promise<unknown>> = {
  async updates() {
    const seen = await memory.read('episodic', 'key', { includeMetadata: true })
    if (!seen) return
    const { value, metadata } = seen
    await memory.atomicUpdate('episodic', [
      { operation: 'set', key: 'key', value, ifUpdatedAt: metadata.updatedAt },
    ])
  },
  archives: () => memory.cleanup({ scope: 'episodic', archiveBefore: Number.MAX_SAFE_INTEGER }),
}

async function repeat(act: (memory: MemoryManager) => Promise<unknown>): Promise<void> {
  let isRunning = true
  process.once('message', () => {
    isRunning = false
  })
  process.send?.('ready')
  while (isRunning) {
    await act(memory).catch((error: unknown) => {
      if (!isMemoryError(error, MemoryErrorCode.CONFLICT)) throw error
    })
    await new Promise(setImmediate)
  }
}

const act = others[role]
if (act) await repeat(act)
else process.send?.(await write())
await memory.close()
process.disconnect()
