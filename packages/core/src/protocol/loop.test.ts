import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod/mini'
import { createTicker } from '../conformance/ticker.ts'
import { MemoryErrorCode } from '../errors.ts'
import { createMemoryManager } from '../front/create-memory-manager.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { observeMemory } from './events.ts'
import { type LoopSteps, type Reflection, runLoop } from './loop.ts'

function setUp() {
  const time = createTicker()
  const calls: string[] = []
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: time.clock })
  const observed = observeMemory(memory, ({ name, scope, key }) =>
    calls.push([name, scope, key].filter(Boolean).join(' ')),
  )
  return { time, memory, observed, calls, clock: time.clock }
}

const goal = { description: 'deploy the api', id: 'task-1' }
const secret = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`
type Steps = LoopSteps<unknown, unknown, unknown, unknown, Reflection>
const steps = (changed: Partial<Steps> = {}): Steps => ({
  perceive: ({ context }) => ({ known: context.playbooks.length }),
  reason: ({ patterns }) => ({ plan: 'deploy', patterns: patterns.length }),
  act: ({ toolState }) => ({ done: true, toolState }),
  observe: () => ({ healthy: true }),
  reflect: () => ({
    outcome: 'success',
    lessons: [{ category: 'deploy', text: 'Run the migrations first' }],
    toolsUsed: ['kubectl'],
  }),
  ...changed,
})

describe('runLoop', () => {
  it('takes a goal of any length and of any characters', async () => {
    const { memory, clock } = setUp()
    const long = { description: `\ud800 ${'scrape the list '.repeat(1000)}` }
    const { episode } = await runLoop(memory, { description: long.description.toWellFormed() }, steps(), {
      clock,
    })
    expect(episode.outcome).toBe('success')
    const { reflection } = await runLoop(memory, long, steps(), { clock })
    expect(reflection.outcome).toBe('success')
  })

  it('reads and writes in the order of the specification', async () => {
    const { observed, calls, clock } = setUp()
    await runLoop(observed, goal, steps(), { loopId: 'one', clock })
    const writes = calls.filter((call) => /^(write|clear)/.test(call))
    expect(writes.slice(0, 10)).toEqual([
      'clear working',
      'write working loopId',
      'write working goal',
      'write working perception',
      'write working decision',
      'write working execution',
      'write working observation',
      'write working reflection',
      'write episodic episode:one',
      expect.stringMatching(/^write long-term lesson:/),
    ])
    expect(writes.at(-1)).toBe('clear working')
    const searches = calls.filter((call) => call.startsWith('search'))
    expect([...searches.slice(0, 3).sort(), ...searches.slice(3)]).toEqual([
      'search episodic',
      'search long-term',
      'search short-term',
      'search long-term',
      'search short-term',
      'search episodic',
    ])
  })

  it('keeps the episode, the lessons and the statistics, and clears working memory', async () => {
    const { memory, clock } = setUp()
    const { episode, reflection } = await runLoop(memory, goal, steps(), { loopId: 'one', clock })
    expect(reflection.outcome).toBe('success')
    expect(await memory.read('episodic', 'episode:one')).toEqual(JSON.parse(JSON.stringify(episode)))
    expect(episode).toMatchObject({
      taskId: 'task-1',
      outcome: 'success',
      toolsUsed: ['kubectl'],
      indexedBy: { outcome: 'success', tools: ['kubectl'], duration: 'short', complexity: 1 },
    })
    expect(episode.executionTrace.map(({ state }) => state)).toEqual([
      'perceive',
      'reason',
      'act',
      'observe',
      'reflect',
    ])
    expect(episode.memoryUpdates.at(-1)).toEqual({ scope: 'episodic', key: 'episode:one' })
    expect(await memory.search('episodic', { tags: ['execution', 'success', 'kubectl'] })).toHaveLength(1)
    expect(await memory.search('long-term', { tags: ['lesson', 'deploy'] })).toHaveLength(1)
    expect(await memory.read('long-term', 'statistic:tool:kubectl')).toMatchObject({
      successRate: 1,
      uses: 1,
    })
    expect(await memory.search('working', {})).toEqual([])
  })

  it('says how long it took: up to a minute, up to ten, or longer', async () => {
    for (const [seconds, duration] of [
      [59, 'short'],
      [60, 'medium'],
      [599, 'medium'],
      [600, 'long'],
    ] as const) {
      const { memory, time, clock } = setUp()
      const act = (): null => {
        time.advance(seconds * 1000)
        return null
      }
      const { episode } = await runLoop(memory, goal, steps({ act }), { clock })
      expect(episode.indexedBy.duration).toBe(duration)
      expect(episode.executionTrace.find(({ state }) => state === 'act')?.duration).toBe(seconds * 1000)
    }
  })

  it('is the more complex, the more rounds and tools it took', async () => {
    for (const [toolsUsed, complexity] of [
      [[], 3],
      [['kubectl', 'git'], 6],
    ] as const) {
      const { memory, clock } = setUp()
      const reflect = (): Reflection => ({
        outcome: 'success',
        lessons: [],
        toolsUsed: [...toolsUsed],
        iterations: 3,
      })
      const { episode } = await runLoop(memory, goal, steps({ reflect }), { clock })
      expect(episode.indexedBy.complexity).toBe(complexity)
    }
  })

  it('records the outcome of a pattern that is not there under its own key', async () => {
    const { memory, clock } = setUp()
    const reflect = (): Reflection => ({ outcome: 'success', lessons: [], patternsUsed: ['pattern:new'] })
    await runLoop(memory, goal, steps({ reflect }), { clock })
    expect(await memory.read('long-term', 'pattern:new')).toMatchObject({ type: 'statistic', uses: 1 })
  })

  it('records the outcome of a section that is not there beside it', async () => {
    const { memory, clock } = setUp()
    const reflect = (): Reflection => ({
      outcome: 'success',
      lessons: [],
      patternsUsed: ['MEMORY.md#intro', 'pattern:new'],
    })
    for (let run = 0; run < 2; run++) await runLoop(memory, goal, steps({ reflect }), { clock })
    expect(await memory.read('long-term', 'statistic:MEMORY.md:intro')).toMatchObject({ uses: 2 })
    expect(await memory.read('long-term', 'pattern:new')).toMatchObject({ uses: 2 })
  })

  it('records the outcome of a pattern whose schema takes no rate beside it', async () => {
    const profile = z.object({ name: z.string() })
    const strict = z.strictObject({ name: z.string() })
    const memory = createMemoryManager({
      stores: createInMemoryStore(),
      schemas: { 'long-term': { profile, strict } },
    })
    for (const key of ['profile', 'strict']) await memory.write('long-term', key, { name: 'Ada' })
    const patternsUsed = ['profile', 'strict', 'pattern:new']
    const reflect = (): Reflection => ({ outcome: 'success', lessons: [], patternsUsed })
    for (let run = 0; run < 3; run++) await runLoop(memory, goal, steps({ reflect }))
    expect(await memory.read('long-term', 'profile')).toEqual({ name: 'Ada' })
    for (const key of ['statistic:profile', 'statistic:strict', 'pattern:new'])
      expect(await memory.read('long-term', key)).toMatchObject({ successRate: 1, uses: 3 })
  })

  it('gives the reflection the episodes that others wrote as the specification has them', async () => {
    const { memory, clock } = setUp()
    const written = { loopId: 'own', goal, executionTrace: [], outcome: 'failure', lessonsLearned: [] }
    await memory.write('episodic', 'mine', written)
    const reflect = vi.fn(steps().reflect)
    await runLoop(memory, goal, steps({ reflect }), { clock })
    expect(reflect.mock.calls[0]?.[0].similar).toEqual([written])
  })

  it('returns the episode as it is stored, without secrets', async () => {
    const { memory, clock } = setUp()
    const login = { description: 'log in with password: hunter2hunter2' }
    const { episode } = await runLoop(memory, login, steps(), { loopId: 'one', clock })
    expect(episode.goal.description).toBe('log in with password: [redacted:password]')
    expect(episode).toEqual(await memory.read('episodic', 'episode:one'))
  })

  it.each(['perceive', 'reason', 'act', 'observe', 'reflect'] as const)(
    'names the step when %s returns what memory cannot hold',
    async (step) => {
      const { memory, clock } = setUp()
      for (const [nothing, why] of [
        [undefined, 'value is undefined'],
        [{ rate: Number.NaN }, 'value.rate is NaN'],
      ] as const) {
        const silent = steps({ [step]: () => nothing })
        await expect(runLoop(memory, goal, silent, { clock })).rejects.toMatchObject({
          code: MemoryErrorCode.INVALID_INPUT,
          message: expect.stringMatching(new RegExp(`^the step '${step}' .*${why}`)),
        })
      }
    },
  )

  it('counts what it followed also where that is text, which carries no rate', async () => {
    const { memory, clock } = setUp()
    await memory.write('long-term', 'how to deploy', 'Run the migrations first.')
    await memory.write('long-term', 'playbook', { steps: [] })
    await memory.write('long-term', 'MEMORY.md#deploy', 'Ask Ada first.')
    const longest = 'MEMORY.md#'.padEnd(1014, 'x')
    const reflect: Steps['reflect'] = () => ({
      outcome: 'success',
      lessons: [],
      patternsUsed: ['how to deploy', 'playbook', 'MEMORY.md#deploy', longest],
    })
    await runLoop(memory, goal, steps({ reflect }), { clock })
    expect(await memory.read('long-term', 'how to deploy')).toBe('Run the migrations first.')
    for (const key of ['statistic:how to deploy', 'statistic:MEMORY.md:deploy'])
      expect(await memory.read('long-term', key)).toMatchObject({ uses: 1 })
    expect(await memory.read('long-term', 'playbook')).toMatchObject({ successRate: 1, uses: 1 })
  })

  it.each<[string, Partial<Reflection>]>([
    [
      'a category in two lines',
      { lessons: [{ category: 'deploy\nsoon', text: 'Run the migrations first' }] },
    ],
    ['a lesson without a category', { lessons: [{ category: '', text: 'Run the migrations first' }] }],
    ['a tool of a very long name', { toolsUsed: ['x'.repeat(257)] }],
    ['a pattern without a name', { patternsUsed: [''] }],
    ['an outcome that a model made up', { outcome: 'won' as never, toolsUsed: ['kubectl'] }],
    ['a lesson whose id is no part of a key', { lessons: [{ id: 'a\nb', category: 'deploy', text: 'Run' }] }],
    ['a lesson whose id is a secret', { lessons: [{ id: secret, category: 'deploy', text: 'Run' }] }],
    ['a tool whose name is a secret', { toolsUsed: ['kubectl', secret] }],
    ['a pattern whose key is a secret', { patternsUsed: [secret] }],
    ['a pattern whose outcomes no key can hold', { patternsUsed: ['MEMORY.md#'.padEnd(1015, 'x')] }],
    [
      'a pattern whose outcomes would have a secret for a key',
      { patternsUsed: ['password#hunter2Xy9zzQ81'] },
    ],
    ['a lesson whose text is blank', { lessons: [{ category: 'deploy', text: ' ' }] }],
    ['a lesson without a text', { lessons: [{ category: 'deploy' } as never] }],
  ])('keeps nothing of a run whose reflection has %s', async (_, wrong) => {
    const { memory, clock } = setUp()
    const reflect = () => ({ outcome: 'success' as const, lessons: [], ...wrong })
    await expect(runLoop(memory, goal, steps({ reflect }), { clock })).rejects.toMatchObject({
      code: MemoryErrorCode.INVALID_INPUT,
      message: expect.stringContaining('reflection.'),
    })
    expect(await memory.search('episodic', {})).toEqual([])
    expect(await memory.search('long-term', {})).toEqual([])
  })

  it('refuses an id under which no episode could be kept before the agent acts', async () => {
    const { memory } = setUp()
    const act = vi.fn(() => 'done')
    for (const loopId of ['', 'a\nb', 'x'.repeat(1017), secret]) {
      await expect(runLoop(memory, goal, steps({ act }), { loopId })).rejects.toMatchObject({
        code: MemoryErrorCode.INVALID_INPUT,
        message: expect.stringMatching(/^options.loopId: /),
      })
    }
    expect(act).not.toHaveBeenCalled()
    const { episode } = await runLoop(memory, goal, steps(), { loopId: 'x'.repeat(1016) })
    expect(episode.id).toHaveLength(1016)
  })

  it.each([
    ['loopid', { loopid: 'one' }],
    ['context.maxToken', { context: { maxToken: 1 } }],
    ['clock', { clock: 5 }],
    ['taskId', { taskId: 5 }],
  ])('refuses a wrong or unknown option before anything is written: %s', async (name, wrong) => {
    const { memory } = setUp()
    await memory.write('working', 'kept', 1)
    await expect(runLoop(memory, goal, steps(), wrong as never)).rejects.toMatchObject({
      code: MemoryErrorCode.INVALID_INPUT,
      message: expect.stringContaining(name.split('.').at(-1) as string),
    })
    expect(await memory.exists('working', 'kept')).toBe(true)
    await runLoop(memory, goal, steps(), { loopId: undefined, taskId: undefined, context: undefined })
  })

  it('says that a goal has to be in words', async () => {
    const { memory } = setUp()
    await memory.write('working', 'kept', 1)
    for (const wrong of [undefined, null, 'deploy', {}, { description: 7 }, { description: ' \n' }]) {
      await expect(runLoop(memory, wrong as never, steps())).rejects.toMatchObject({
        code: MemoryErrorCode.INVALID_INPUT,
        message: expect.stringContaining('description'),
      })
    }
    expect(await memory.exists('working', 'kept')).toBe(true)
  })

  it('counts a lesson that is learned again, and gives the episode to the next run', async () => {
    const { memory, clock } = setUp()
    await runLoop(memory, goal, steps(), { clock })
    const seen: unknown[] = []
    const second = steps({
      perceive: ({ context }) => context.similarEpisodes.length,
      reflect: ({ similar, working }) => {
        seen.push(similar.length, working.perception, working.observation)
        return {
          outcome: 'partial',
          lessons: [{ category: 'deploy', text: 'run the migrations FIRST!' }],
          toolsUsed: ['kubectl'],
        }
      },
    })
    await runLoop(memory, goal, second, { clock })
    expect(seen).toEqual([1, 1, { healthy: true }])
    const [lesson, ...others] = await memory.search('long-term', { tags: ['lesson'] })
    expect(others).toEqual([])
    expect(lesson?.value).toMatchObject({ count: 2 })
    expect(await memory.read('long-term', 'statistic:tool:kubectl')).toMatchObject({
      successRate: 0.75,
      uses: 2,
    })
  })

  it('counts once what one loop names several times', async () => {
    const { memory, clock } = setUp()
    const reflect: Steps['reflect'] = () => ({
      outcome: 'failure',
      lessons: [
        { category: 'git', text: 'Pull before push' },
        { category: 'git', text: 'pull BEFORE push!' },
      ],
      toolsUsed: ['git', 'git', 'npm'],
      patternsUsed: ['release', 'release'],
      iterations: 2,
    })
    const { episode } = await runLoop(memory, goal, steps({ reflect }), { clock })
    expect(episode).toMatchObject({ toolsUsed: ['git', 'npm'], indexedBy: { complexity: 4 } })
    for (const key of ['statistic:tool:git', 'statistic:tool:npm', 'release'])
      expect(await memory.read('long-term', key)).toMatchObject({ uses: 1 })
    const lessons = await memory.search('long-term', { tags: ['lesson'] })
    expect(lessons.map(({ value }) => value)).toMatchObject([{ count: 1 }])
  })

  it('gives the action the state of its tools', async () => {
    const { memory, clock } = setUp()
    await memory.write('short-term', 'browser', { page: 3 }, { tags: ['tool-state'] })
    await memory.write('short-term', 'tool-state', { browser: { page: 1 }, shell: { folder: '/' } })
    await memory.write('short-term', 'other', 'of another kind')
    let given: unknown
    await runLoop(
      memory,
      goal,
      steps({
        act: ({ toolState }) => {
          given = toolState
          return null
        },
      }),
      { clock },
    )
    expect(given).toEqual({ browser: { page: 3 }, shell: { folder: '/' } })
  })

  it.each(['perceive', 'reason', 'act', 'observe', 'reflect'] as const)(
    'clears working memory when %s fails, writes nothing else and throws the error as it is',
    async (step) => {
      const { memory, clock } = setUp()
      const error = new Error('broken')
      const broken = steps({ [step]: () => Promise.reject(error) })
      await expect(runLoop(memory, goal, broken, { clock })).rejects.toBe(error)
      for (const scope of ['working', 'episodic', 'long-term'] as const) {
        expect(await memory.search(scope, {})).toEqual([])
      }
      await runLoop(memory, goal, steps(), { clock })
    },
  )

  it('throws the error of a step also where clearing fails after it', async () => {
    const { memory } = setUp()
    const clear = vi.spyOn(memory, 'clear')
    const act: Steps['act'] = () => {
      clear.mockRejectedValue(new Error('away'))
      throw new Error('the tool broke')
    }
    await expect(runLoop(memory, goal, steps({ act }))).rejects.toThrow('the tool broke')
  })

  it('clears what a killed loop has left behind', async () => {
    const { memory, clock } = setUp()
    await memory.write('working', 'left', 'over')
    let found: unknown
    await runLoop(
      memory,
      goal,
      steps({
        perceive: async () => {
          found = await memory.exists('working', 'left')
          return 1
        },
      }),
      { clock },
    )
    expect(found).toBe(false)
  })

  it('refuses a second loop on the same memory at the same time', async () => {
    const { memory, clock } = setUp()
    const inner = steps({ act: () => runLoop(memory, goal, steps(), { clock }) })
    await expect(runLoop(memory, goal, inner, { clock })).rejects.toMatchObject({
      code: MemoryErrorCode.CONFLICT,
    })
  })
})
