import { describe, expect, it } from 'vitest'
import { openMemory } from '../../test/open-memory.ts'
import { MemoryErrorCode } from '../errors.ts'
import { createMemoryManager } from '../front/create-memory-manager.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { createLearningRetriever, learn } from './lessons.ts'

describe('createLearningRetriever', () => {
  it('groups the lessons of episodes that shared a tool, counts them and drops repeats', async () => {
    const { memory, time } = openMemory()
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
    const { memory, time } = openMemory()
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

  it.each([{ limits: 5 }, { limit: 0 }, { limit: 1001 }])('refuses the options %j', (options) => {
    expect(() => createLearningRetriever(openMemory().memory, options as never)).toThrow(
      expect.objectContaining({ code: MemoryErrorCode.INVALID_INPUT }),
    )
  })

  it('passes over episodes without lessons', async () => {
    const { memory } = openMemory()
    await memory.write('episodic', 'key', { toolsUsed: ['git'] })
    expect(await createLearningRetriever(memory).retrieveLessons({ toolsUsed: ['git'] })).toEqual([])
  })
})

it('passes over lessons of another shape', async () => {
  const { memory } = openMemory()
  for (const [i, lessonsLearned] of ['a text', [null, { text: 'no category' }], 7].entries())
    await memory.write('episodic', `${i}`, { toolsUsed: ['git'], lessonsLearned })
  expect(await createLearningRetriever(memory).retrieveLessons({ toolsUsed: ['git'] })).toEqual([])
})

it('learn makes no hash of a secret: lessons that differ in it alone are one', async () => {
  const { memory } = openMemory()
  const lesson = (letter: string) => ({
    category: 'ops',
    text: `Use ${'ghp_'}${letter.repeat(36)} to deploy`,
  })
  expect(await learn(memory, lesson('a'))).toBe(await learn(memory, lesson('b')))
  expect(await memory.search('long-term', {})).toMatchObject([
    { value: { text: 'Use [redacted:github] to deploy', count: 2 } },
  ])
})

it('learn keeps a lesson under the id that it states', async () => {
  const { memory } = openMemory()
  const lesson = { id: 'own', category: 'build', text: 'Clean first' }
  expect(await learn(memory, lesson)).toBe('lesson:own')
  expect(await memory.read('long-term', 'lesson:own')).toMatchObject(lesson)
})

it('learn keeps what a person wrote into a lesson', async () => {
  const { memory } = openMemory()
  const lesson = { category: 'build', text: 'Clean first', severity: 'low' }
  const key = await learn(memory, lesson)
  await memory.write('long-term', key, { ...lesson, count: 1, note: 'also before a release' })
  await learn(memory, { ...lesson, severity: 'high' })
  expect(await memory.read('long-term', key)).toEqual({
    ...{ type: 'lesson', category: 'build', text: 'Clean first', count: 2 },
    ...{ severity: 'high', note: 'also before a release' },
  })
})

it('learn keeps the tags that a person gave a lesson', async () => {
  const { memory } = openMemory()
  const lesson = { category: 'build', text: 'Clean first' }
  const key = await learn(memory, lesson)
  const record = await memory.read('long-term', key, { includeMetadata: true })
  await memory.write('long-term', key, record?.value, { tags: ['lesson', 'build', 'important'] })
  await learn(memory, lesson)
  const [match] = await memory.search('long-term', { tags: ['important', 'lesson', 'build'] })
  expect(match).toMatchObject({ key, value: { count: 2 } })
})

it('learn counts a lesson that is learned many times at once', async () => {
  const { memory } = openMemory()
  const lesson = { category: 'code', text: 'Use C' }
  const keys = await Promise.all(Array.from({ length: 200 }, () => learn(memory, lesson)))
  expect(await memory.read('long-term', keys[0] ?? '')).toMatchObject({ count: 200 })
})

it.each([
  [{ category: 'code' }, 'lesson.text: '],
  [{ category: 'code', text: '' }, 'lesson.text: must say something'],
  [{ category: 'code', text: ' \n' }, 'lesson.text: must say something'],
  [{ text: 'Use C' }, 'lesson.category: '],
  [undefined, 'lesson: '],
])('learn refuses %j and says what it lacks', async (lesson, message) => {
  const { memory } = openMemory()
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
