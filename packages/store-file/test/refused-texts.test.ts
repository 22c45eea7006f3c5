import { type Embedder, MemoryError, MemoryErrorCode } from '@recall/core'
import { expect, it } from 'vitest'
import type { VectorIndex } from '../src/vectors/vector-index.ts'
import { conceptEmbedder, keys, memoryAt } from './support/memory-with-vectors.ts'
import { temporaryRoot } from './support/temporary-root.ts'

const reason = 'the model takes no such text'

/** Refuses texts that are longer than a few words, and counts the calls. */
function pickyEmbedder() {
  const known = conceptEmbedder()
  const sent: string[] = []
  const embed: Embedder['embed'] = async (texts, mode) => {
    sent.push(...texts)
    if (texts.some((text) => text.length > 100))
      throw new MemoryError(reason, MemoryErrorCode.UNAVAILABLE, { details: { refusesText: true } })
    return known.embed(texts, mode)
  }
  return { ...known, embed, sent }
}

const long = (word: string): string => `${word} ${'and so on '.repeat(20)}`

async function memoryWithRefused(refused = 1) {
  const embedder = pickyEmbedder()
  const notices: string[] = []
  const opened = await memoryAt(temporaryRoot(), embedder, { onNotice: (text) => notices.push(text) })
  const write = (key: string, value: string) => opened.memory.write('long-term', key, value)
  const names = Array.from({ length: refused }, (_, i) => `refused${i}`)
  await write('before', 'The automobile')
  await opened.memory.batchWrite(
    'long-term',
    names.map((key) => ({ key, value: long(`The vehicle ${key}`) })),
  )
  await write('after', 'A storm')
  return { ...opened, embedder, notices, write, vectors: opened.store.vectors as VectorIndex }
}

it('a text that the model refuses keeps no other from its vector, is told once, and is found by words', async () => {
  const { memory, store, notices, vectors } = await memoryWithRefused()
  expect(await keys(memory, 'car')).toEqual(['before'])
  expect(vectors.coverage()).toMatchObject({ embedded: 2, total: 3 })
  expect(await keys(memory, 'refused0')).toContain('refused0')
  expect(await store.embedRecent(0)).toBe(1)
  expect(notices).toEqual([expect.stringContaining(reason)])
})

it('a text that the model refuses is not sent again while the memory is open, also when others come', async () => {
  const { store, embedder, vectors, write } = await memoryWithRefused()
  await store.embedRecent(0)
  embedder.sent.length = 0
  await store.embedRecent(0)
  await vectors.catchUp()
  expect(embedder.sent).toEqual([])
  await write('later', 'A puppy')
  expect(await store.embedRecent(0)).toBe(1)
  expect(embedder.sent).toEqual(['A puppy'])
})

it('many new texts that the model refuses hide no older one', async () => {
  const { store, vectors } = await memoryWithRefused(150)
  let left = Number.POSITIVE_INFINITY
  for (let searches = 0; left > 150 && searches < 10; searches++) left = await store.embedRecent(0)
  expect(vectors.coverage()).toMatchObject({ embedded: 2, total: 152 })
})

it('a turn that the model refuses keeps no later one of its conversation from being found by meaning', async () => {
  const { memory, store, vectors } = await memoryWithRefused()
  const turns = ['The dog', long('The weather'), 'The rain'].map((turn) => `### User\n\n${turn}\n`)
  const facts = { date: '2026-03-05T10:00:00Z', sessionId: 's', messageCount: 3, duration: '1m' }
  const conversation = { ...facts, source: 'session', topics: [], body: turns.join('\n') }
  await memory.write('episodic', 'conversation:s', conversation, { type: 'conversation' })
  await store.embedRecent(0)
  expect(vectors.coverage()).toMatchObject({ embedded: 4, total: 6 })
  const [found] = await memory.search('episodic', { text: 'storm' })
  expect(found?.key).toBe('conversation:s')
  expect(await store.embedRecent(0)).toBe(2)
})

it('catching up goes past what the model refuses, and tells how much that is, why, and where it begins', async () => {
  const { vectors } = await memoryWithRefused(2)
  const refused = { count: 2, reason, path: 'memory/long-term/refused0.md', key: 'refused0' }
  expect(await vectors.catchUp()).toEqual({ done: 2, total: 4, refused })
  expect(await vectors.catchUp()).toEqual({ done: 0, total: 2, refused })
  expect(vectors.coverage()).toMatchObject({ embedded: 2, total: 4 })
})
