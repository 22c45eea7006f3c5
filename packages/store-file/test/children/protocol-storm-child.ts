import { join } from 'node:path'
import { createMemoryManager, MemoryError, MemoryErrorCode, rotateEncryption } from '@recall/core'
import { createMemoryFallback } from '@recall/core/protocol'
import { openFileStore } from '../../src/open-file-memory.ts'
import { openWriteQueue } from '../../src/write-queue.ts'
import { type Report, ring, shortTermQuota } from '../support/protocol-storm-values.ts'
import { seededRandom } from '../support/random.ts'
import { writeReport } from '../support/storm-reports.ts'
import { sealedText } from '../support/storm-values.ts'

/** Archives, evicts, queues, drains and rotates keys without end, and reports what has returned, until it is killed. */
const [root = '', name = '', seed = '0'] = process.argv.slice(2)
const random = seededRandom(Number(seed))
const stores = await openFileStore({ root })
const options = { policies: { quotas: { 'short-term': shortTermQuota } }, redact: 'allow' } as const
const memory = createMemoryManager({ ...options, stores, encryptionKey: ring('first') })

let isDown = false
const unreliable = createMemoryManager({
  ...options,
  stores: {
    ...stores,
    async put(entry, putOptions) {
      if (isDown) throw new MemoryError('no answer', MemoryErrorCode.TIMEOUT)
      await stores.put(entry, putOptions)
    },
  },
})
const queue = await openWriteQueue({ folder: join(root, '..', 'queue') })
const fallback = createMemoryFallback({ memory: unreliable, queue, onDegraded: () => {}, redact: 'allow' })
const episodes: string[] = []

const report: (line: Report) => void = writeReport

const noteErrors = ({ errors }: { errors: { message: string }[] }): void => {
  for (const { message } of errors) report({ failed: message })
}

const operations: ((n: number) => Promise<void>)[] = [
  async (n) => {
    const key = `episode ${name}-${n}`
    await memory.write('episodic', key, sealedText(n, Math.floor(random() * 3000)))
    episodes.push(key)
    report({ done: 'episode', key })
  },
  async () => noteErrors(await memory.cleanup({ scope: 'episodic', archiveBefore: Date.now() + 1 })),
  async () => {
    const key = episodes[Math.floor(random() * episodes.length)]
    if (key) await memory.restore('episodic', key)
  },
  async (n) => {
    const key = `recent ${name}-${n}`
    await memory.write('short-term', key, sealedText(n, 1500))
    report({ done: 'recent', key })
  },
  async () => noteErrors(await memory.cleanup({ scope: 'short-term', threshold: 0.5 })),
  async (n) => {
    const key = `secret ${name}-${n}`
    await memory.write('long-term', key, sealedText(n, 200), { encrypt: true })
    report({ done: 'secret', key, n })
  },
  async () =>
    noteErrors(await rotateEncryption({ stores, encryptionKey: ring(random() < 0.5 ? 'first' : 'second') })),
  async (n) => {
    isDown = random() < 0.8
    const key = `queued ${n % 3}`
    await fallback.writeWithDegradation('long-term', key, sealedText(n, 100))
    report({ done: 'queued', key, n })
  },
  async () => {
    isDown = random() < 0.2
    await fallback.drain()
  },
]
const weights = [4, 2, 1, 4, 1, 3, 1, 4, 2]

process.send?.('ready')
// Numbers rise from child to child: what is queued later is larger.
for (let n = Number(name.slice(1)) * 1_000_000; ; n++) {
  const chosen = random() * weights.reduce((sum, weight) => sum + weight, 0)
  let sum = 0
  const at = weights.findIndex((weight) => {
    sum += weight
    return chosen < sum
  })
  await operations[at]?.(n)
}
