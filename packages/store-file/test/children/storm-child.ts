import {
  conversationKey,
  conversationType,
  createMemoryManager,
  sessionSummaryKey,
  sessionSummaryType,
} from '@recall/core'
import { openFileStore } from '../../src/open-file-memory.ts'
import { seededRandom } from '../support/random.ts'
import { writeReport } from '../support/storm-reports.ts'
import { archiveOf, type Report, sealedText, summaryOf } from '../support/storm-values.ts'

/** Writes without end, and reports each write when it is acknowledged, until it is killed. */
const [root = '', name = '', seed = '0'] = process.argv.slice(2)
const random = seededRandom(Number(seed))
const store = await openFileStore({ root })
const memory = createMemoryManager({ stores: store, redact: 'allow' })
const kept: string[] = []
const sessions: string[] = []
const forGood = { ttl: Number.POSITIVE_INFINITY }

const report: (line: Report) => void = writeReport

const operations: ((n: number) => Promise<void>)[] = [
  async (n) => {
    const key = `note ${name}-${n}`
    const value = sealedText(n, Math.floor(random() * 6000))
    await memory.write('long-term', key, value)
    kept.push(key)
    report({ done: 'note', key, value })
  },
  async (n) => {
    await memory.write('long-term', 'hot', sealedText(n, Math.floor(random() * 9000)))
    await memory.write('long-term', `hot-${name}`, sealedText(n, Math.floor(random() * 9000)))
    report({ done: 'hot', key: `hot-${name}`, n })
  },
  async (n) => {
    const value = sealedText(n, 300)
    const keys = [`pair-${name}-a`, `pair-${name}-b`, 'shared-a', 'shared-b']
    await memory.atomicUpdate(
      'long-term',
      keys.map((key) => ({ operation: 'set', key, value })),
    )
    report({ done: 'pair', key: `pair-${name}`, n })
  },
  async (n) => {
    const key = `MEMORY.md#part-${name}-${n % 3}`
    await memory.write('long-term', key, sealedText(n, 200))
    report({ done: 'section', key, n })
  },
  async (n) => {
    const id = `${name}-${n}`
    await memory.write('episodic', conversationKey(id), archiveOf(id, n), { type: conversationType })
    report({ done: 'archive', id })
    await memory.write('short-term', sessionSummaryKey(id), summaryOf(id, n), {
      type: sessionSummaryType,
      ...forGood,
    })
    sessions.push(id)
    if (sessions.length > 3) await memory.delete('short-term', sessionSummaryKey(sessions.shift() as string))
  },
  async () => {
    const key = kept.shift()
    if (!key) return
    report({ begun: 'delete', key })
    await memory.delete('long-term', key)
    report({ done: 'delete', key })
  },
  async () => store.reindex({ full: random() < 0.2 }),
  async () => void (await memory.search('long-term', { text: 'lorem number' })),
]
const weights = [6, 3, 3, 2, 2, 2, 0.3, 1]

process.send?.('ready')
for (let n = 1; ; n++) {
  const chosen = random() * weights.reduce((sum, weight) => sum + weight, 0)
  let sum = 0
  const at = weights.findIndex((weight) => {
    sum += weight
    return chosen < sum
  })
  await operations[at]?.(n)
}
