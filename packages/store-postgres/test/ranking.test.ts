import {
  conversationType,
  createInMemoryStore,
  createMemoryManager,
  type Embedder,
  type MemoryManager,
} from '@recall/core'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPostgresStore } from '../src/postgres-store.ts'
import { type Engine, emptyTables, engines } from './support/engines.ts'

const word = fc.constantFrom('pool', 'leak', 'deploy', 'door', 'blue', 'the', 'failing', 'café', 'x1', '部署')
const text = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(' '))
const vector = fc.tuple(fc.integer({ min: -4, max: 4 }), fc.integer({ min: -4, max: 4 }), fc.constant(1))
const note = fc.record({ text, vector: fc.option(vector), age: fc.integer({ min: 0, max: 5 }) })

describe.each(engines)('%s', (_, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())

  it('scores and orders as the in-memory store does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(note, { minLength: 1, maxLength: 12 }),
        fc.record({
          text: fc.option(text, { nil: undefined }),
          embedding: fc.option(vector, { nil: undefined }),
        }),
        fc.constantFrom('asc', 'desc'),
        async (notes, query, sortOrder) => {
          await emptyTables(engine.database)
          let now = 1_000_000_000_000
          const clock = () => now
          const memories = [createPostgresStore(engine.database), createInMemoryStore()].map((stores) =>
            createMemoryManager({ stores, clock }),
          )
          for (const [i, { text, vector, age }] of notes.entries()) {
            now += age * 86_400_000
            const options = vector ? { embedding: vector } : {}
            for (const memory of memories) await memory.write('long-term', `n${i}`, text, options)
          }
          const [postgres, inMemory] = await Promise.all(
            memories.map((memory) => outcome(memory, query, sortOrder)),
          )
          expect(postgres?.map(({ key, mode }) => [key, mode])).toEqual(
            inMemory?.map(({ key, mode }) => [key, mode]),
          )
          for (const [i, { score }] of (postgres ?? []).entries()) {
            expect(score).toBeCloseTo(inMemory?.[i]?.score ?? -1, 5)
          }
          for (const memory of memories) await memory.close()
        },
      ),
      { numRuns: 40 },
    )
  })

  it('ranks thousands of notes as the in-memory store does, whichever words it finds them by', async () => {
    await emptyTables(engine.database)
    const stores = [createPostgresStore(engine.database), createInMemoryStore()]
    const memories = stores.map((store) => createMemoryManager({ stores: store, clock: () => 1e12 }))
    // From a word in one of 100 notes to one in nearly every note.
    const shares = [0.01, 0.03, 0.1, 0.15, 0.2, 0.25, 0.9, 0.95, 0.97, 0.5]
    const random = mulberry32(7)
    const notes = Array.from({ length: 3000 }, (_, i) => ({
      key: `n${i}`,
      value: shares
        .flatMap((share, j) => (random() < share ? Array(1 + Math.floor(random() * 3)).fill(`held${j}`) : []))
        .concat(Array(Math.floor(random() * 40)).fill('other'))
        .join(' '),
    }))
    // Here the rarer word says less, because it stands in long notes.
    const long = Array.from({ length: 300 }, (_, i) => ({
      key: `long${i}`,
      value: `far ${'x '.repeat(400)}`,
    }))
    for (const memory of memories) await memory.batchWrite('long-term', [...notes, ...long])
    const questions = [
      [2, 3, 4, 7, 8],
      [3, 5, 6],
      [0, 6, 7, 8],
      [1, 2, 6],
      [4, 5, 8],
      [6, 7],
      ['far', 9],
    ]
    for (const question of questions) {
      const text = question.map((j) => (j === 'far' ? j : `held${j}`)).join(' ')
      const [ours = [], theirs = []] = await Promise.all(
        memories.map((memory) => memory.search('long-term', { text }, { limit: 50, touch: false })),
      )
      expect(ours.map(({ key }) => key)).toEqual(theirs.map(({ key }) => key))
      expect(ours.map(({ score }) => score)).toEqual(theirs.map(({ score }) => expect.closeTo(score, 5)))
    }
    for (const memory of memories) await memory.close()
  })

  it('ranks the turns of conversations as the in-memory store does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(text, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 6 }),
        text,
        fc.boolean(),
        async (conversations, query, byMeaning) => {
          await emptyTables(engine.database)
          let now = 1_000_000_000_000
          const [postgres, inMemory] = [createPostgresStore(engine.database), createInMemoryStore()].map(
            (stores) =>
              createMemoryManager({
                stores,
                clock: () => now,
                ...(byMeaning ? { embedder: wordCounts } : {}),
              }),
          ) as [MemoryManager, MemoryManager]
          for (const [i, turns] of conversations.entries()) {
            now += 86_400_000
            const value = turns.map((turn) => `### User\n\nAna: ${turn}\n`).join('\n')
            for (const memory of [postgres, inMemory]) {
              // Written twice, so that units of an earlier version would show.
              await memory.write('episodic', `c${i}`, `${value}\n### User\n\n${query}`, {
                type: conversationType,
              })
              await memory.write('episodic', `c${i}`, value, { type: conversationType })
            }
          }
          const found = await Promise.all(
            [postgres, inMemory].map((memory) =>
              memory.search(
                'episodic',
                { text: query },
                { limit: 100, passages: 3, touch: false, explain: true },
              ),
            ),
          )
          const [ours = [], theirs = []] = found.map((matches) =>
            matches
              .map(({ key, score, mode, signals, passages = [] }) => ({
                key,
                mode,
                score,
                signals: Object.keys(signals ?? {}).sort(),
                passages: passages.map(({ score = 0, ...passage }) => ({ ...passage, score })).sort(byText),
              }))
              .sort((a, b) => (a.key < b.key ? -1 : 1)),
          )
          // Postgres counts similarities in single precision.
          const nearly = <Scored extends { score: number; confidence?: number }>(found: Scored): Scored => ({
            ...found,
            score: expect.closeTo(found.score, 4),
            ...(found.confidence === undefined ? {} : { confidence: expect.closeTo(found.confidence, 2) }),
          })
          expect(ours).toEqual(
            theirs.map((match) => ({ ...nearly(match), passages: match.passages.map(nearly) })),
          )
          for (const memory of [postgres, inMemory]) await memory.close()
        },
      ),
      { numRuns: 40 },
    )
  })

  it('finds a word that thousands of turns hold in each conversation, not turn by turn', async () => {
    await emptyTables(engine.database)
    const memory = createMemoryManager({ stores: createPostgresStore(engine.database) })
    const archive = (key: string, turns: readonly string[]) =>
      memory.write('episodic', key, turns.map((turn) => `### User\n\n${turn}\n`).join('\n'), {
        type: conversationType,
      })
    await archive('long', Array(4100).fill('the harbour'))
    await archive('both', ['a zeppelin', 'who', 'where', 'when', 'the harbour'])
    await archive('one', ['a zeppelin', 'who', 'where', 'when', 'the station'])
    const found = await memory.search(
      'episodic',
      { text: 'zeppelin harbour' },
      { explain: true, touch: false },
    )
    expect(found.map(({ key }) => key)).toEqual(['both', 'one', 'long'])
    const [both, one] = found.map(({ signals }) => signals)
    expect(both?.surroundings).toBeCloseTo(both?.document as number, 9)
    expect(one?.surroundings).toBeCloseTo(one?.document as number, 9)
    expect(both?.document).toBeGreaterThan(one?.document as number)
    await memory.close()
  })

  it.each([
    ['few', 1],
    ['thousands of', 4100],
  ])(
    'ranks a conversation by none of the words of an older version, where %s turns hold them',
    async (_, held) => {
      await emptyTables(engine.database)
      const memory = createMemoryManager({
        stores: createPostgresStore(engine.database),
        clock: () => 1_000_000_000_000,
      })
      const archive = (key: string, turns: readonly string[]) =>
        memory.write('episodic', key, turns.map((turn) => `### User\n\n${turn}\n`).join('\n'), {
          type: conversationType,
        })
      await archive('long', Array(held).fill('the harbour'))
      for (const key of ['once', 'twice']) await archive(key, ['a zeppelin', 'who', 'where'])
      // As two writers leave it that write at the same moment.
      await engine.database.execute(sql`
      insert into units (place, entry, unit, words, word_count, label)
      select place, id, 3, 'harbour:1', 1, '' from entries where key = 'twice'`)
      const found = await memory.search(
        'episodic',
        { text: 'zeppelin harbour' },
        { explain: true, touch: false },
      )
      const signals = new Map(found.map((match) => [match.key, match.signals]))
      expect(signals.get('twice')?.document).toBeCloseTo(signals.get('once')?.document as number, 9)
      expect(signals.get('twice')?.surroundings).toBeCloseTo(signals.get('once')?.surroundings as number, 9)
      await memory.close()
    },
  )
})

/** Random numbers in [0, 1) from a seed. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

const byText = (a: { text: string }, b: { text: string }): number => (a.text < b.text ? -1 : 1)

/** How often some words occur: enough meaning for a test. */
const wordCounts: Embedder = {
  model: 'counts',
  dimensions: 5,
  embed: async (texts) =>
    texts.map((text) => {
      const counts = ['pool', 'leak', 'deploy', 'blue'].map((word) => text.split(word).length - 1)
      const length = Math.hypot(...counts, 1)
      return Float32Array.from([...counts, 1], (count) => count / length)
    }),
}

/** Scores rounded to what single precision keeps decide, then the key. */
async function outcome(
  memory: MemoryManager,
  query: { text?: string; embedding?: number[] },
  sortOrder: 'asc' | 'desc',
) {
  const matches = await memory.search('long-term', query, { limit: 100, sortOrder, touch: false })
  const direction = sortOrder === 'asc' ? 1 : -1
  return matches
    .map((match) => ({ ...match, rounded: Math.round(match.score * 1e4) }))
    .sort((a, b) => direction * (a.rounded - b.rounded) || (a.key < b.key ? -1 : 1))
}
