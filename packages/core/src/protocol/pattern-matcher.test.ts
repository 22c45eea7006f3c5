import { describe, expect, it } from 'vitest'
import { openMemory } from '../../test/open-memory.ts'
import { createConceptEmbedder } from '../conformance/concept-embedder.ts'
import { createTicker } from '../conformance/ticker.ts'
import { createMemoryManager } from '../front/create-memory-manager.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { createPatternMatcher } from './pattern-matcher.ts'

describe('createPatternMatcher', () => {
  it('combines tags, meaning and structure, and says what matched', async () => {
    const { memory } = openMemory()
    const preconditions = [{ tool: 'browser', version: 3 }]
    await memory.write(
      'long-term',
      'all',
      { text: 'retry failing requests', preconditions },
      { tags: ['web', 'error'] },
    )
    await memory.write('long-term', 'tag', { text: 'unrelated' }, { tags: ['web'] })
    await memory.write('long-term', 'words', { text: 'retry slowly' })
    await memory.write('long-term', 'shape', {
      preconditions: [
        { tool: 'browser', version: 1 },
        { tool: 'x', version: 9 },
      ],
    })
    const matches = await createPatternMatcher(memory).findMatchingPatterns({
      tags: ['web', 'error'],
      description: 'retry requests',
      preconditions: { tool: 'browser', version: { $gte: 2 } },
    })
    expect(matches.map(({ key }) => key)).toEqual(['all', expect.any(String), expect.any(String)])
    expect(matches[0]?.matchedBy).toEqual({ tags: 1, description: expect.any(Number), preconditions: 1 })
    expect(matches[0]?.mode).toBe('lexical')
    expect(matches.find(({ key }) => key === 'tag')).toMatchObject({ score: 0.15, matchedBy: { tags: 0.5 } })
    expect(matches.some(({ key }) => key === 'shape')).toBe(false)
    for (const { score } of matches) expect(score).toBeLessThanOrEqual(1)
  })

  it('puts the best first, and of equals the newer one', async () => {
    const { memory, time } = openMemory()
    const preconditions = [{ tool: 'browser' }]
    await memory.write('long-term', 'both', { preconditions }, { tags: ['web'] })
    time.advance(1)
    await memory.write('long-term', 'older', 'text', { tags: ['web'] })
    time.advance(1)
    await memory.write('long-term', 'newer', { preconditions })
    const situation = { tags: ['web'], preconditions: { tool: 'browser' } }
    const found = await createPatternMatcher(memory).findMatchingPatterns(situation)
    expect(found.map(({ key, score }) => [key, score])).toEqual([
      ['both', 1],
      ['newer', 0.5],
      ['older', 0.5],
    ])
  })

  it('finds nothing by a description of blanks', async () => {
    const { memory } = openMemory()
    await memory.write('long-term', 'key', 'text')
    expect(await createPatternMatcher(memory).findMatchingPatterns({ description: ' \n' })).toEqual([])
  })

  it('weighs only the parts that the situation has', async () => {
    const { memory } = openMemory()
    await memory.write('long-term', 'key', 1, { tags: ['a'] })
    const matcher = createPatternMatcher(memory)
    expect(await matcher.findMatchingPatterns({ tags: ['a'] })).toMatchObject([{ key: 'key', score: 1 }])
    expect(await matcher.findMatchingPatterns({})).toEqual([])
    await memory.write('long-term', 'words', 'redis cache')
    const description = 'redis cache'
    const [byWords] = await matcher.findMatchingPatterns({ description })
    expect(byWords?.score).toBe(byWords?.matchedBy.description)
    expect(await matcher.findMatchingPatterns({ description, tags: [] })).toMatchObject([
      { score: byWords?.score },
    ])
  })

  it('counts a tag once that the situation names twice', async () => {
    const memory = createMemoryManager({ stores: createInMemoryStore() })
    await memory.write('long-term', 'pattern', 1, { tags: ['http'] })
    const [match] = await createPatternMatcher(memory).findMatchingPatterns({ tags: ['http', 'http', 'sql'] })
    expect(match?.score).toBe(0.5)
  })

  it('goes by the tags of an entry, whatever its value has of that name', async () => {
    const { memory } = openMemory()
    await memory.write('long-term', 'tagged', { tags: ['draft'] }, { tags: ['http'] })
    await memory.write('long-term', 'untagged', { tags: ['http'] })
    const found = await createPatternMatcher(memory).findMatchingPatterns({ tags: ['http'] })
    expect(found).toMatchObject([{ key: 'tagged', score: 1 }])
  })

  it('finds the pattern that shares most tags behind newer ones that share fewer, and counts no other as used', async () => {
    const time = createTicker()
    const memory = createMemoryManager({ stores: createInMemoryStore(), clock: time.clock })
    await memory.write('long-term', 'fitting', 1, { tags: ['a', 'b', 'c'] })
    for (let i = 0; i < 12; i++) {
      time.advance(1000)
      await memory.write('long-term', `newer ${i}`, 1, { tags: ['a'] })
    }
    const found = await createPatternMatcher(memory).findMatchingPatterns({ tags: ['a', 'b', 'c'] })
    expect(found).toHaveLength(10)
    expect(found.slice(0, 2)).toMatchObject([
      { key: 'fitting', score: 1 },
      { key: 'newer 11', score: 1 / 3 },
    ])
    const used = await memory.search(
      'long-term',
      { filters: { accessCount: { $gt: 0 } } },
      { touch: false, limit: 20 },
    )
    expect(used).toHaveLength(10)
  })

  it('scores a pattern by every part, also one that no part alone would put among its best', async () => {
    const { memory, time } = openMemory()
    const preconditions = [{ s: 1 }]
    const options = { tags: ['net'] }
    const text = 'retry the zebra connection with backoff'
    await memory.write('long-term', 'fitting', { text, preconditions }, options)
    for (let i = 0; i < 12; i++) {
      time.advance(1)
      await memory.write('long-term', `newer ${i}`, { text: `other thing ${i}`, preconditions }, options)
    }
    const situation = { tags: ['net'], description: 'zebra backoff', preconditions: { s: 1 } }
    const found = await createPatternMatcher(memory).findMatchingPatterns(situation)
    expect(found).toHaveLength(10)
    expect(found[0]).toMatchObject({ key: 'fitting', mode: 'lexical' })
    expect(found[0]?.matchedBy).toEqual({ tags: 1, preconditions: 1, description: expect.any(Number) })
    expect(found[0]?.score).toBeGreaterThan(0.6)
    expect(found[1]).toMatchObject({ key: 'newer 11', score: 0.6 })
  })

  it('gives no score by parts that weigh nothing', async () => {
    const { memory } = openMemory()
    await memory.write('long-term', 'tagged', 1, { tags: ['http'] })
    const weights = { tags: 0, description: 1, preconditions: 0 }
    const found = await createPatternMatcher(memory, { weights }).findMatchingPatterns({ tags: ['http'] })
    expect(found).toMatchObject([{ key: 'tagged', score: 0, matchedBy: { tags: 1 } }])
  })

  it.each([
    [{ weights: { tags: 0, description: 0, preconditions: 0 } }, 'options.weights: must not all be 0'],
    [{ weights: { tags: -1, description: 1, preconditions: 1 } }, 'options.weights.tags'],
    [{ weights: { tags: 1, description: Number.NaN, preconditions: 1 } }, 'options.weights.description'],
    [{ weights: { tags: 1 } }, 'options.weights.description'],
    [{ weights: { tag: 1, tags: 1, description: 1, preconditions: 1 } }, '"tag"'],
    [{ limit: 0 }, 'options.limit'],
    [{ weigths: {} }, '"weigths"'],
  ])('refuses the options %j', (options, told) => {
    const { memory } = openMemory()
    expect(() => createPatternMatcher(memory, options as never)).toThrow(told)
  })

  it.each([
    [{ tag: ['x'] }, '"tag"'],
    ['http', 'situation'],
    [undefined, 'situation'],
    [{ tags: 'x' }, 'situation.tags'],
  ])('refuses the situation %j', async (situation, told) => {
    const { memory } = openMemory()
    await expect(createPatternMatcher(memory).findMatchingPatterns(situation as never)).rejects.toMatchObject(
      { code: 'MEMORY_INVALID_INPUT', message: expect.stringContaining(told) },
    )
  })

  it.each([
    ['a value', 'logged-in', ['logged-in', 'online']],
    ['a list of values', ['logged-in', 'offline'], ['logged-in', 'online']],
    ['a list of objects', [{ status: 429 }], [{ status: 429 }]],
  ])('takes for preconditions what $elemMatch takes: %s', async (_, preconditions, held) => {
    const { memory } = openMemory()
    await memory.write('long-term', 'met', { preconditions: held })
    await memory.write('long-term', 'unmet', { preconditions: ['logged-out'] })
    const found = await createPatternMatcher(memory).findMatchingPatterns({ preconditions })
    expect(found.map(({ key }) => key)).toEqual(['met'])
  })

  it('searches by vectors where it is given an embedder, and says how it searched', async () => {
    const { memory } = openMemory()
    const concepts = createConceptEmbedder()
    const embed = async (text: string): Promise<number[]> => [
      ...((await concepts.embed([text], 'query'))[0] ?? []),
    ]
    await memory.write('long-term', 'car', 'automobile', { embedding: await embed('automobile') })
    const [match] = await createPatternMatcher(memory, { embed }).findMatchingPatterns({ description: 'car' })
    expect(match).toMatchObject({ key: 'car', mode: 'semantic' })
    await memory.write('long-term', 'words', 'plain words')
    expect(await createPatternMatcher(memory).findMatchingPatterns({ description: 'words' })).toMatchObject([
      { mode: 'lexical' },
    ])
  })
})

it('finds patterns by words where a store takes no vectors', async () => {
  const sound = createInMemoryStore()
  const memory = createMemoryManager({
    stores: { ...sound, capabilities: { ...sound.capabilities, semantic: false } },
  })
  await memory.write('long-term', 'words', 'plain words')
  const matcher = createPatternMatcher(memory, { embed: async () => [1, 0] })
  expect(await matcher.findMatchingPatterns({ description: 'words' })).toMatchObject([{ key: 'words' }])
})
