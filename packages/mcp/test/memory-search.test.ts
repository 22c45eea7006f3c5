import { createInMemoryStore, createMemoryManager, type MemoryManager } from '@recall/core'
import { describe, expect, it } from 'vitest'
import { createMcpFetch, type McpOptions } from '../src/index.ts'
import { modern, sampleOptions } from './support.ts'

it.each([
  ['a text', 'The heron stood in the reeds.', 'The heron stood in the reeds.'],
  [
    'a record with a key of its own, whole',
    { key: 'heron', body: 'It stood in the reeds.', count: 2 },
    '{\n  "key": "heron",\n  "body": "It stood in the reeds.",\n  "count": 2\n}',
  ],
])('finds, reads and forgets what was archived for its age: %s', async (_, value, text) => {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: () => now })
  await memory.write('episodic', 'old', value)
  now += 100 * 24 * 3600 * 1000
  expect(await memory.cleanup({ scope: 'episodic' })).toMatchObject({ archived: 1 })
  const server = createMcpFetch({ optionsFor: () => ({ memory }) })
  const answerOf = async (name: string, args: object) => {
    const response = await server.fetch(modern('tools/call', { name, arguments: args }, name))
    return ((await response.json()) as { result: { structuredContent?: object; isError?: boolean } }).result
  }
  const old = { key: 'old', scope: 'episodic' }
  expect(await answerOf('memory_search', { query: 'heron' })).toMatchObject({
    structuredContent: { results: [] },
  })
  expect(await answerOf('memory_search', { query: 'heron', archived: true })).toMatchObject({
    structuredContent: { results: [{ ...old, archived: true }] },
  })
  expect(await answerOf('memory_read', old)).toMatchObject({
    structuredContent: { text: expect.stringContaining(`\n${text}\n`), length: text.length },
  })
  expect(await answerOf('memory_forget', old)).toMatchObject({ structuredContent: { forgotten: true } })
  expect(await answerOf('memory_read', old)).toMatchObject({ isError: true })
})

it('says when a text was written, not when its key was first used', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: () => now })
  await memory.write('long-term', 'heron', 'The heron stood in the reeds.')
  now = Date.parse('2026-02-01T00:00:00Z')
  await memory.write('long-term', 'heron', 'The heron flew off.')
  const server = createMcpFetch({ optionsFor: () => ({ memory }) })
  const answerOf = async (name: string, args: object) => {
    const response = await server.fetch(modern('tools/call', { name, arguments: args }, name))
    return ((await response.json()) as { result: { structuredContent: object } }).result.structuredContent
  }
  const recorded = '2026-02-01T00:00:00.000Z'
  const read = { key: 'heron', scope: 'long-term' }
  expect(await answerOf('memory_search', { query: 'heron' })).toMatchObject({ results: [{ recorded }] })
  expect(await answerOf('memory_read', read)).toMatchObject({ recorded })
})

it('looks through no archive where there is none', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore({ archive: false }) })
  await memory.write('long-term', 'heron', 'The heron stood in the reeds.')
  const server = createMcpFetch({ optionsFor: () => ({ memory }) })
  const asked = { name: 'memory_search', arguments: { query: 'heron', archived: true } }
  const answer = await server.fetch(modern('tools/call', asked, 'memory_search'))
  expect(await answer.json()).toMatchObject({
    result: { structuredContent: { results: [{ key: 'heron' }] } },
  })
})

it('names the file and the line where a memory stands', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  await memory.write('long-term', 'MEMORY.md#birds', 'The heron stood in the reeds.')
  const search = async (...given: Parameters<MemoryManager['search']>) =>
    (await memory.search(...given)).map((match) => ({
      ...match,
      passages: match.passages?.map((passage) => ({ ...passage, path: 'memory/MEMORY.md', line: 7 })),
    }))
  const server = createMcpFetch({ optionsFor: () => ({ memory: { ...memory, search } as MemoryManager }) })
  const asked = { name: 'memory_search', arguments: { query: 'heron' } }
  const answer = await server.fetch(modern('tools/call', asked, 'memory_search'))
  const source = 'memory/MEMORY.md:7 (MEMORY.md#birds)'
  expect(await answer.json()).toMatchObject({
    result: { structuredContent: { results: [{ source, text: expect.stringContaining(`"${source}"`) }] } },
  })
})

it('does not take a search for nothing for one for everything', async () => {
  const server = createMcpFetch({ optionsFor: sampleOptions })
  const request = modern(
    'tools/call',
    { name: 'memory_search', arguments: { query: ' \n' } },
    'memory_search',
  )
  const { result } = (await (await server.fetch(request)).json()) as { result: { isError: boolean } }
  expect(result.isError).toBe(true)
})

it('finds several places of one session', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  const turns = ['The pool leaks again.', 'Lunch?', 'At noon.', 'Why does the pool leak?', 'Later.']
  const body = turns.map((turn) => `### User\n\n${turn}`).join('\n\n')
  await memory.write('episodic', 'conversation:leak', { body }, { type: 'conversation' })
  const server = createMcpFetch({ optionsFor: () => ({ memory }) })
  const asked = { name: 'memory_search', arguments: { query: 'pool leak', limit: 2 } }
  const answer = await server.fetch(modern('tools/call', asked, 'memory_search'))
  const { result } = (await answer.json()) as { result: { structuredContent: { results: unknown[] } } }
  expect(result.structuredContent.results).toMatchObject([
    { key: 'conversation:leak', text: expect.stringContaining('pool leak') },
    { key: 'conversation:leak', text: expect.stringContaining('pool leak') },
  ])
})

it('puts what answers first, whether it was noted or said', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  for (const topic of [
    'gardens',
    'films',
    'Rome',
    'pianos',
    'boats',
    'choirs',
    'recipes',
    'trains',
    'bees',
  ]) {
    const body = `### User\n\nAna told me of ${topic}.\n\n### Assistant\n\nWhat did Ana say of ${topic}?`
    await memory.write('episodic', `conversation:${topic}`, { body }, { type: 'conversation' })
    await memory.write('long-term', `fact:${topic}`, `Ben likes ${topic}.`)
  }
  await memory.write('long-term', 'fact:puppy', 'The puppy that Ana adopted answers to Biscuit.')
  const server = createMcpFetch({ optionsFor: () => ({ memory }) })
  const asked = { name: 'memory_search', arguments: { query: 'What did Ana say she calls the puppy?' } }
  const answer = await server.fetch(modern('tools/call', asked, 'memory_search'))
  const { result } = (await answer.json()) as {
    result: { structuredContent: { results: { key: string; confidence: number }[]; confidence: number } }
  }
  const { results, confidence } = result.structuredContent
  expect(results[0]).toMatchObject({ key: 'fact:puppy', confidence })
  const told = results.map((result) => result.confidence)
  expect(told).toEqual(told.toSorted((a, b) => b - a))
})

it('shows of a long memory the place that was looked for', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  await memory.write(
    'long-term',
    'birds',
    `${'All kinds of birds. '.repeat(50)}The heron stood in the reeds.`,
  )
  const server = createMcpFetch({ optionsFor: () => ({ memory }) })
  const request = modern(
    'tools/call',
    { name: 'memory_search', arguments: { query: 'heron' } },
    'memory_search',
  )
  const { result } = (await (await server.fetch(request)).json()) as {
    result: { structuredContent: { results: { text: string }[] } }
  }
  expect(result.structuredContent.results[0]?.text).toContain('The heron stood in the reeds.')
})

describe('what a search could not look at', () => {
  async function told(notSearched: McpOptions['notSearched'], args: Record<string, unknown> = {}) {
    const memory = createMemoryManager({ stores: createInMemoryStore() })
    const server = createMcpFetch({ optionsFor: () => ({ memory, ...(notSearched ? { notSearched } : {}) }) })
    const asked = { name: 'memory_search', arguments: { query: 'heron', ...args } }
    const answer = await server.fetch(modern('tools/call', asked, 'memory_search'))
    const { result } = (await answer.json()) as {
      result: { structuredContent: { results: unknown[]; notSearched?: string[] } }
    }
    expect(result.structuredContent.results).toEqual([])
    return result.structuredContent.notSearched
  }

  it('is told beside what it found, fenced, each once', async () => {
    const reports = await told((scope) => ['NOTES.md cannot be read', `${scope}.md cannot be read`])
    expect(reports).toEqual(
      ['NOTES.md', 'long-term.md', 'episodic.md'].map((name) =>
        expect.stringMatching(
          new RegExp(`^<recalled-memory .*\n${name} cannot be read\n</recalled-memory>$`),
        ),
      ),
    )
    expect(await told((scope) => [scope], { scope: 'short-term' })).toEqual([
      expect.stringContaining('\nshort-term\n'),
    ])
  })

  it('is counted where it is much, holds no secret, and is absent where all was searched', async () => {
    const many = Array.from({ length: 12 }, (_, i) => `${i}-ghp_${'a1B2'.repeat(9)}.md`)
    const reports = await told(() => many)
    expect(reports).toHaveLength(6)
    expect(reports?.at(-1)).toBe('and 7 more')
    expect(reports?.join()).not.toContain('a1B2')
    expect(await told(undefined)).toBeUndefined()
  })
})
