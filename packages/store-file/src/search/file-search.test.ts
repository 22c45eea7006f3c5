import { createMemoryManager } from '@recall/core'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
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
  const question = { minScore: 0, text: 'pool leak', namespace: 'default', limit: 100, passages: 100, now }
  const hits = store.locate(question, ['long-term'])
  const sums = hits.map(({ signals }) => Object.values(signals).reduce((sum, part) => sum + part, 0))
  expect(hits).toHaveLength(100)
  for (const [i, { score }] of hits.entries()) expect(sums[i]).toBeCloseTo(score, 9)
  await store.close()
})

test('tells of a memory no place that matches far less than its best one', async () => {
  const store = await openFileStore({ root: temporaryRoot() })
  const memory = createMemoryManager({ stores: store })
  onTestFinished(() => memory.close())
  const filler = (word: string): string => Array.from({ length: 150 }, (_, i) => `${word}x${i}`).join(' ')
  for (let i = 0; i < 20; i++) await memory.write('long-term', `note ${i}`, `An otter of day ${i}.`)
  const parts = [
    'The otter left the harbour by lantern.',
    'The otter slept.',
    'By lantern it left the harbour.',
  ]
  await memory.write('long-term', 'plan', parts.map((part, i) => `${part} ${filler(`f${i}`)}`).join('\n\n'))
  const question = {
    minScore: 0,
    text: 'otter harbour lantern',
    namespace: 'default',
    limit: 100,
    now: Date.now(),
  }
  const places = store.locate({ ...question, passages: 9 }, ['long-term']).filter(({ key }) => key === 'plan')
  expect(places.map(({ text }) => text.slice(0, 9)).sort()).toEqual(['By lanter', 'The otter'])
})

test('finds a place by a day that the question names by its distance', async () => {
  const store = await openFileStore({ root: temporaryRoot() })
  let now = Date.UTC(2026, 2, 1)
  const memory = createMemoryManager({ stores: store, clock: () => now })
  onTestFinished(() => memory.close())
  const filler = Array.from({ length: 250 }, (_, i) => `word${i}`).join(' ')
  for (const day of ['first', 'second', 'third']) {
    await memory.write('long-term', day, `The otter swam. ${filler}`)
    now += dayMs
  }
  const question = { minScore: 0, text: 'otter two days ago', namespace: 'default', limit: 1, now }
  expect(store.locate(question, ['long-term']).map(({ key }) => key)).toEqual(['second'])
})
