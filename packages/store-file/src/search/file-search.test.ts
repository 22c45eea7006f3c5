import { createMemoryManager } from '@recall/core'
import { expect, test } from 'vitest'
import { temporaryRoot } from '../../test/temporary-root.ts'
import { openFileStore } from '../open-file-memory.ts'

const dayMs = 24 * 60 * 60 * 1000

test('the signals of a place add up to its score, also where a later look caps it', async () => {
  const store = await openFileStore({ root: temporaryRoot() })
  let now = Date.UTC(2026, 0, 1)
  const memory = createMemoryManager({ stores: store, clock: () => now })
  for (let i = 0; i < 120; i++) {
    now += dayMs
    const filler = Array.from({ length: 5 + ((i * 7) % 11) }, (_, j) => `f${i}x${j}`).join(' ')
    await memory.write('long-term', `note ${i}`, `The pool leaks. ${filler}`)
  }
  const order = { sortBy: 'relevance', sortOrder: 'desc', offset: 0, minScore: 0 } as const
  const question = { ...order, text: 'pool leak', namespace: 'default', limit: 100, passages: 100, now }
  const hits = store.locate(question, ['long-term'])
  const sums = hits.map(({ signals }) => Object.values(signals).reduce((sum, part) => sum + part, 0))
  expect(hits).toHaveLength(100)
  for (const [i, { score }] of hits.entries()) expect(sums[i]).toBeCloseTo(score, 9)
  await store.close()
})
