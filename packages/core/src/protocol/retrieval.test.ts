import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createConceptEmbedder } from '../conformance/concept-embedder.ts'
import { createTicker } from '../conformance/ticker.ts'
import { MemoryError, MemoryErrorCode } from '../errors.ts'
import { createMemoryManager } from '../front/create-memory-manager.ts'
import type { MemoryManager } from '../memory-manager.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { type ContextOptions, retrieveContext } from './context.ts'
import { createLearningRetriever, learn } from './lessons.ts'
import { createPatternMatcher } from './pattern-matcher.ts'
import { recordOutcome } from './statistics.ts'
import { updateEntry } from './update-entry.ts'

function open() {
  const time = createTicker()
  const stores = createInMemoryStore()
  return { time, stores, memory: createMemoryManager({ stores, clock: time.clock }) }
}

describe('retrieveContext', () => {
  it('brings playbooks, successes and recent context with their scores', async () => {
    const { memory } = open()
    await memory.write('long-term', 'p', { type: 'playbook', text: 'scrape web pages' })
    await memory.write('long-term', 'n', { type: 'note', text: 'scrape web pages' })
    await memory.write('episodic', 'good', { outcome: 'success', text: 'scrape the web' })
    await memory.write('episodic', 'bad', { outcome: 'failure', text: 'scrape the web' })
    await memory.write('short-term', 'c', 'just now', { tags: ['context', 'session'] })
    await memory.write('short-term', 'other', 'of another kind', { tags: ['context'] })
    const bundle = await retrieveContext(memory, { description: 'scrape web' })
    expect(bundle.playbooks).toEqual([{ type: 'playbook', text: 'scrape web pages' }])
    expect(bundle.similarEpisodes).toEqual([{ outcome: 'success', text: 'scrape the web' }])
    expect(bundle.recentContext).toEqual(['just now'])
    expect(bundle.relevanceScores.recent).toEqual([1])
    for (const score of [...bundle.relevanceScores.playbooks, ...bundle.relevanceScores.episodes]) {
      expect(score).toBeGreaterThan(0)
      expect(score).toBeLessThanOrEqual(1)
    }
    expect(bundle.omitted).toBe(0)
  })

  it('keeps within the budget, the best of each kind first, and says what it left out', async () => {
    const { memory, time } = open()
    for (let i = 0; i < 5; i++) {
      time.advance(1)
      await memory.write('short-term', `c${i}`, 'x'.repeat(40), { tags: ['context', 'session'] })
    }
    await memory.write('long-term', 'p', 'scrape', { type: 'playbook' })
    const bundle = await retrieveContext(memory, { description: 'scrape' }, { maxTokens: 22 })
    expect(bundle.playbooks).toEqual(['scrape'])
    expect(bundle).toMatchObject({ tokens: 22, omitted: 3 })
    for (const maxTokens of [Number.NaN, -1]) {
      await expect(retrieveContext(memory, { description: 'scrape' }, { maxTokens })).rejects.toMatchObject({
        code: 'MEMORY_INVALID_INPUT',
      })
    }
    const none = await retrieveContext(memory, { description: 'scrape' }, { maxTokens: 0 })
    expect(none).toMatchObject({ playbooks: [], recentContext: [], tokens: 0, omitted: 6 })
    const own = await retrieveContext(memory, { description: 'scrape' }, { countTokens: () => 1000 })
    expect(own.tokens).toBe(4000)
  })

  it('takes five playbooks, three episodes and ten of the recent context, or as many as are wanted', async () => {
    const { memory } = open()
    for (let i = 0; i < 12; i++) {
      await memory.write('long-term', `p${i}`, 'scrape', { type: 'playbook' })
      await memory.write('episodic', `e${i}`, { outcome: 'success', text: 'scrape' })
      await memory.write('short-term', `c${i}`, 'scrape', { tags: ['context', 'session'] })
    }
    const found = async (limits?: ContextOptions['limits']) => {
      const context = await retrieveContext(memory, { description: 'scrape' }, limits ? { limits } : {})
      const { playbooks, similarEpisodes, recentContext } = context
      return [playbooks, similarEpisodes, recentContext].map(({ length }) => length)
    }
    expect(await found()).toEqual([5, 3, 10])
    expect(await found({ playbooks: 1, episodes: 4, recent: 2 })).toEqual([1, 4, 2])
  })

  it('counts an object by its JSON', async () => {
    const { memory } = open()
    const value = { type: 'playbook', text: 'scrape' }
    await memory.write('long-term', 'p', value)
    const { tokens } = await retrieveContext(memory, { description: 'scrape' })
    expect(tokens).toBe(Math.ceil(JSON.stringify(value).length / 4))
  })

  it('leaves out what nobody wants', async () => {
    const { memory } = open()
    await memory.write('episodic', 'e', { outcome: 'success', text: 'scraped pages' })
    await memory.write('short-term', 'c', 'scraping', { tags: ['context', 'session'] })
    const context = await retrieveContext(memory, { description: 'scrape' }, { limits: { episodes: 0 } })
    expect(context).toMatchObject({ similarEpisodes: [], recentContext: ['scraping'], omitted: 0 })
  })

  it('takes a goal of any length and of any characters', async () => {
    const { memory } = open()
    for (const description of ['', 'word '.repeat(5000), '\ud800', `${'x'.repeat(9999)}🙂`]) {
      await retrieveContext(memory, { description })
    }
  })
})

describe('createPatternMatcher', () => {
  it('combines tags, meaning and structure, and says what matched', async () => {
    const { memory } = open()
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
    const { memory, time } = open()
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
    const { memory } = open()
    await memory.write('long-term', 'key', 'text')
    expect(await createPatternMatcher(memory).findMatchingPatterns({ description: ' \n' })).toEqual([])
  })

  it('weighs only the parts that the situation has', async () => {
    const { memory } = open()
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
    const { memory } = open()
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

  it('searches by vectors where it is given an embedder, and says how it searched', async () => {
    const { memory } = open()
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

describe('createLearningRetriever', () => {
  it('groups the lessons of episodes that shared a tool, counts them and drops repeats', async () => {
    const { memory, time } = open()
    const episode = async (
      key: string,
      tools: string[],
      outcome: string,
      ...texts: [string, string][]
    ): Promise<void> => {
      time.advance(1)
      const lessonsLearned = texts.map(([category, text]) => ({ category, text }))
      await memory.write('episodic', key, { toolsUsed: tools, outcome, lessonsLearned })
    }
    await episode('1', ['git', 'npm'], 'failure', ['git', 'Pull before you push.'], ['npm', 'Pin versions'])
    await episode('2', ['git'], 'failure', ['git', 'pull before you push'], ['git', 'Pull before you push'])
    await episode('3', ['git'], 'success', ['git', 'Small commits'])
    await episode('4', ['docker'], 'failure', ['docker', 'Prune images'])
    const groups = await createLearningRetriever(memory).retrieveLessons({
      toolsUsed: ['git', 'cargo'],
      outcome: 'failure',
    })
    expect(groups.map(({ category }) => category)).toEqual(['git', 'npm'])
    expect(groups[0]?.lessons).toMatchObject([{ count: 2, lesson: { text: 'Pull before you push' } }])
    const any = await createLearningRetriever(memory).retrieveLessons({ toolsUsed: ['git'] })
    expect(any[0]?.lessons).toHaveLength(2)
  })

  it('puts first what was taught most often, and tells when it was taught last', async () => {
    const { memory, time } = open()
    const build = { category: 'build', text: 'Clean first' }
    const [cache, retry] = [
      { category: 'network', text: 'Cache what is asked twice' },
      { category: 'network', text: 'Retry once' },
    ]
    const times: number[] = []
    for (const lessonsLearned of [[retry], [cache, retry], [build]]) {
      time.advance(1000)
      times.push(time.clock())
      await memory.write('episodic', `e${times.length}`, { toolsUsed: ['browser'], lessonsLearned })
    }
    expect(await createLearningRetriever(memory).retrieveLessons({ toolsUsed: ['browser'] })).toEqual([
      {
        category: 'network',
        lessons: [
          { lesson: retry, count: 2, lastSeen: times[1] },
          { lesson: cache, count: 1, lastSeen: times[1] },
        ],
      },
      { category: 'build', lessons: [{ lesson: build, count: 1, lastSeen: times[2] }] },
    ])
  })

  it('passes over episodes without lessons', async () => {
    const { memory } = open()
    await memory.write('episodic', 'key', { toolsUsed: ['git'] })
    expect(await createLearningRetriever(memory).retrieveLessons({ toolsUsed: ['git'] })).toEqual([])
  })
})

it('passes over lessons of another shape', async () => {
  const { memory } = open()
  for (const [i, lessonsLearned] of ['a text', [null, { text: 'no category' }], 7].entries())
    await memory.write('episodic', `${i}`, { toolsUsed: ['git'], lessonsLearned })
  expect(await createLearningRetriever(memory).retrieveLessons({ toolsUsed: ['git'] })).toEqual([])
})

it('learn keeps a lesson under the id that it states', async () => {
  const { memory } = open()
  const lesson = { id: 'own', category: 'build', text: 'Clean first' }
  expect(await learn(memory, lesson)).toBe('lesson:own')
  expect(await memory.read('long-term', 'lesson:own')).toMatchObject(lesson)
})

it('learn keeps the tags that a person gave a lesson', async () => {
  const { memory } = open()
  const lesson = { category: 'build', text: 'Clean first' }
  const key = await learn(memory, lesson)
  const record = await memory.read('long-term', key, { includeMetadata: true })
  await memory.write('long-term', key, record?.value, { tags: ['lesson', 'build', 'important'] })
  await learn(memory, lesson)
  const [match] = await memory.search('long-term', { tags: ['important', 'lesson', 'build'] })
  expect(match).toMatchObject({ key, value: { count: 2 } })
})

it('learn counts a lesson that is learned many times at once', async () => {
  const { memory } = open()
  const lesson = { category: 'code', text: 'Use C' }
  const keys = await Promise.all(Array.from({ length: 200 }, () => learn(memory, lesson)))
  expect(await memory.read('long-term', keys[0] ?? '')).toMatchObject({ count: 200 })
})

it.each([
  [{ category: 'code' }, 'lesson.text: '],
  [{ text: 'Use C' }, 'lesson.category: '],
  [undefined, 'lesson: '],
])('learn refuses %j and says what it lacks', async (lesson, message) => {
  const { memory } = open()
  await expect(learn(memory, lesson as never)).rejects.toMatchObject({
    code: MemoryErrorCode.INVALID_INPUT,
    message: expect.stringContaining(message),
  })
})

it('learn keeps lessons apart that only a symbol tells apart', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  const texts = ['Use C', 'Use C++', 'use C#', 'fail if n < 3', 'fail if n > 3', '👍', '👎']
  for (const text of [...texts, 'Use  c!']) await learn(memory, { category: 'code', text })
  const found = await memory.search<{ text: string }>('long-term', { tags: ['lesson'] })
  expect(found.map(({ value }) => value.text).sort()).toEqual([...texts.slice(1), 'Use  c!'].sort())
})

describe('recordOutcome', () => {
  it('keeps the mean of all outcomes where filters and metadata see it', async () => {
    const { memory } = open()
    await memory.write('long-term', 'p', { type: 'playbook', steps: ['a'] }, { tags: ['web'] })
    await recordOutcome(memory, 'p', 'success')
    await recordOutcome(memory, 'p', 'failure')
    expect(await recordOutcome(memory, 'p', 'partial')).toEqual({ successRate: 0.5, uses: 3 })
    const [match] = await memory.search('long-term', {
      tags: ['web'],
      filters: { successRate: { gte: 0.5 }, type: 'playbook' },
    })
    expect(match?.value).toEqual({ type: 'playbook', steps: ['a'], successRate: 0.5, uses: 3 })
    expect(match?.metadata.successRate).toBe(0.5)
  })

  it('counts the outcomes of several processes at once', async () => {
    const { memory, stores } = open()
    const other = createMemoryManager({ stores })
    const outcomes = Array.from({ length: 16 }, (_, i) =>
      recordOutcome(i % 2 ? memory : other, 'tool', i % 4 ? 'success' : 'failure'),
    )
    await Promise.all(outcomes)
    expect(await memory.read('long-term', 'tool')).toEqual({ type: 'statistic', successRate: 0.75, uses: 16 })
  })

  it('counts all outcomes of one process at once, also after one that fails', async () => {
    const { memory } = open()
    await memory.write('long-term', 'text', 'just text')
    const refused = recordOutcome(memory, 'text', 'success')
    const outcomes = Array.from({ length: 200 }, () => recordOutcome(memory, 'tool', 'success'))
    await expect(refused).rejects.toMatchObject({ code: MemoryErrorCode.INVALID_INPUT })
    await memory.delete('long-term', 'text')
    await Promise.all([...outcomes, recordOutcome(memory, 'text', 'success')])
    expect(await memory.read('long-term', 'tool')).toMatchObject({ uses: 200 })
    expect(await memory.read('long-term', 'text')).toMatchObject({ uses: 1 })
  })

  it('says which outcomes there are', async () => {
    const { memory } = open()
    await expect(recordOutcome(memory, 'tool', 'succes' as never)).rejects.toMatchObject({
      code: MemoryErrorCode.INVALID_INPUT,
      message: expect.stringMatching(/^outcome: .*"success"\|"partial"\|"failure"/),
    })
    expect(await memory.exists('long-term', 'tool')).toBe(false)
  })

  it('refuses a value that cannot carry a rate', async () => {
    const { memory } = open()
    await memory.write('long-term', 'text', 'just text')
    await expect(recordOutcome(memory, 'text', 'success')).rejects.toMatchObject({
      code: MemoryErrorCode.INVALID_INPUT,
    })
    expect(await memory.read('long-term', 'text')).toBe('just text')
  })
})

it('updateEntry loses no update of many processes, which pause at random after each that they lost', async () => {
  const { stores, memory } = open()
  const pauses: number[] = []
  const pause = async (ms: number) => void pauses.push(ms)
  const count = (each: MemoryManager) =>
    updateEntry<number>(each, 'long-term', 'count', (known) => ({ value: (known ?? 0) + 1 }), { pause })
  const processes = Array.from({ length: 80 }, () => createMemoryManager({ stores }))
  await Promise.all(processes.map(count))
  expect(await memory.read('long-term', 'count')).toBe(80)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(100)
  expect(new Set(pauses).size).toBeGreaterThan(100)
})

it('updateEntry gives up at last when others always win', async () => {
  const { memory } = open()
  await memory.write('long-term', 'count', 0)
  let tries = 0
  const overtaken: MemoryManager = {
    ...memory,
    async atomicUpdate() {
      tries++
      throw new MemoryError('written meanwhile', MemoryErrorCode.CONFLICT)
    },
  }
  vi.spyOn(Math, 'random').mockReturnValue(1)
  onTestFinished(() => void vi.restoreAllMocks())
  const pauses: number[] = []
  const pause = async (ms: number) => void pauses.push(ms)
  const update = updateEntry(overtaken, 'long-term', 'count', () => ({ value: 1 }), { pause })
  await expect(update).rejects.toMatchObject({
    code: MemoryErrorCode.CONFLICT,
    message: expect.stringContaining('try again'),
  })
  expect(tries).toBe(100)
  expect(pauses.slice(0, 9)).toEqual([1, 2, 4, 8, 16, 32, 64, 100, 100])
})

it('updateEntry keeps the ttl and the encryption of what it changes', async () => {
  const time = createTicker()
  const memory = createMemoryManager({
    stores: createInMemoryStore(),
    clock: time.clock,
    encryptionKey: new Uint8Array(32),
  })
  await memory.write('short-term', 'count', 1, { ttl: 5000, encrypt: true })
  time.advance(1000)
  await updateEntry<number>(memory, 'short-term', 'count', (known) => ({ value: (known ?? 0) + 1 }))
  const record = await memory.read('short-term', 'count', { includeMetadata: true })
  expect(record).toMatchObject({ value: 2, metadata: { encrypted: true, expiresAt: time.clock() + 5000 } })
})

it('updateEntry keeps for ever what was written for ever, with its tags and its type', async () => {
  const time = createTicker()
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: time.clock })
  const options = { ttl: Number.POSITIVE_INFINITY, tags: ['ui'], type: 'counter' }
  await memory.write('short-term', 'count', 1, options)
  await updateEntry<number>(memory, 'short-term', 'count', (known) => ({ value: (known ?? 0) + 1 }))
  time.advance(365 * 24 * 3600_000)
  const record = await memory.read('short-term', 'count', { includeMetadata: true })
  expect(record).toMatchObject({ value: 2, metadata: { expiresAt: null, tags: ['ui'], type: 'counter' } })
})

it('updateEntry leaves the type to a value that says its own', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  await memory.write('long-term', 'p', { type: 'draft' })
  await updateEntry(memory, 'long-term', 'p', () => ({ value: { type: 'playbook' } }))
  const record = await memory.read('long-term', 'p', { includeMetadata: true })
  expect(record?.metadata.type).toBe('playbook')
})

it('updateEntry changes the ttl, the tags and the type where it is told to', async () => {
  const time = createTicker()
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: time.clock })
  await memory.write('long-term', 'count', 1, { tags: ['old'], type: 'draft' })
  time.advance(1)
  const options = { ttl: 5000, tags: ['new'], type: 'counter' }
  await updateEntry(memory, 'long-term', 'count', () => ({ value: 2, ...options }))
  const record = await memory.read('long-term', 'count', { includeMetadata: true })
  expect(record?.metadata).toMatchObject({ tags: ['new'], type: 'counter', expiresAt: time.clock() + 5000 })
})

it('updateEntry lets the updates of one memory take turns, so that none is overtaken', async () => {
  const { memory } = open()
  const pause = vi.fn(async () => {})
  const count = () =>
    updateEntry<number>(memory, 'long-term', 'count', (known) => ({ value: (known ?? 0) + 1 }), { pause })
  await Promise.all(Array.from({ length: 10 }, count))
  expect(await memory.read('long-term', 'count')).toBe(10)
  expect(pause).not.toHaveBeenCalled()
})

it('updateEntry overwrites nothing that was written as it began, whatever it is told', async () => {
  const { memory } = open()
  const seen: (number | null)[] = []
  let other: Promise<void> | undefined
  const change = (known: number | null) => {
    seen.push(known)
    other ??= memory.write('long-term', 'count', 7)
    return { value: (known ?? 0) + 1, overwrite: true }
  }
  await updateEntry(memory, 'long-term', 'count', change, { pause: async () => other })
  expect(await memory.read('long-term', 'count')).toBe(8)
  expect(seen).toEqual([null, 7])
})
