import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTicker } from '../conformance/ticker.ts'
import { createMemoryManager } from '../front/create-memory-manager.ts'
import { memoryScopes } from '../scope.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { type CleanupTurn, createCleanupScheduler, type SchedulerOptions, type Timers } from './scheduler.ts'

const minute = 60_000
const day = 24 * 60 * minute

/** Timers that run when the clock is moved, each in its order. */
function createTimers() {
  const time = createTicker()
  const pending = new Map<number, { at: number; call: () => void }>()
  let last = 0
  const timers: Timers = {
    set(call, milliseconds) {
      pending.set(++last, { at: time.clock() + milliseconds, call })
      return last
    },
    clear: (timer) => void pending.delete(timer as number),
    now: time.clock,
  }
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const pass = async (milliseconds: number): Promise<void> => {
    const end = time.clock() + milliseconds
    for (;;) {
      const [id, next] = [...pending].sort(([, a], [, b]) => a.at - b.at)[0] ?? []
      if (id === undefined || !next || next.at > end) break
      pending.delete(id)
      time.advance(next.at - time.clock())
      next.call()
      await settle()
    }
    time.advance(end - time.clock())
  }
  return { time, timers, pending, pass }
}

function setUp(options: SchedulerOptions = {}) {
  const { time, timers, pending, pass } = createTimers()
  const stores = createInMemoryStore()
  const turns: CleanupTurn[] = []
  const open = () => {
    const memory = createMemoryManager({
      stores,
      clock: time.clock,
      policies: { quotas: { 'short-term': 1000 } },
    })
    const onTurn = (turn: CleanupTurn): void => void turns.push(turn)
    return {
      memory,
      scheduler: createCleanupScheduler(memory, { timers, random: () => 0, onTurn, ...options }),
    }
  }
  return { time, pending, pass, turns, open, stores }
}

const count = (turns: CleanupTurn[], task: string, outcome: string): number =>
  turns.filter((turn) => turn.task === task && turn.outcome === outcome).length

describe('createCleanupScheduler', () => {
  it('runs the three tasks every five minutes, every hour and every day', async () => {
    const { open, pass, turns } = setUp()
    const { scheduler } = open()
    scheduler.start()
    scheduler.start()
    await pass(day)
    expect(count(turns, 'expire', 'done')).toBe(288)
    expect(count(turns, 'evict', 'done')).toBe(24)
    expect(count(turns, 'archive', 'done')).toBe(1)
    expect(turns.every(({ outcome }) => outcome === 'done')).toBe(true)
  })

  it.each([true, false])('removes what has expired in every scope (archive: %s)', async (archive) => {
    const { time, timers } = createTimers()
    const stores = createInMemoryStore({ archive })
    const memory = createMemoryManager({ stores, clock: time.clock })
    for (const scope of memoryScopes) await memory.write(scope, 'short', 1, { ttl: minute })
    await memory.write('episodic', 'old', 'kept')
    time.advance(100 * day)
    const turn = await createCleanupScheduler(memory, { timers }).run('expire')
    expect(turn).toMatchObject({ result: { deleted: 4, archived: 0, errors: [] } })
    expect(await memory.read('episodic', 'old')).toBe('kept')
  })

  it('plans each task once when it is stopped and started again while one runs', async () => {
    const { open, pass, turns, pending, stores } = setUp()
    const { scheduler } = open()
    const { sweep } = stores
    let restart = (): void => {
      restart = () => {}
      void scheduler.stop()
      scheduler.start()
    }
    stores.sweep = (selection) => {
      restart()
      return sweep(selection)
    }
    scheduler.start()
    await pass(6 * minute)
    expect(pending.size).toBe(3)
    await pass(5 * minute)
    expect(count(turns, 'expire', 'done')).toBe(2)
  })

  it('deletes what has expired, evicts what is too much and archives what is old', async () => {
    const { open, pass, stores, time } = setUp()
    const { memory, scheduler } = open()
    await memory.write('episodic', 'old', 1)
    await pass(91 * day)
    await memory.write('short-term', 'expiring', 1, { ttl: 1000 })
    for (let i = 0; i < 9; i++) {
      time.advance(1)
      await memory.write('short-term', `${i}`, 'x'.repeat(98), { ttl: Number.POSITIVE_INFINITY })
    }
    scheduler.start()
    await pass(6 * minute)
    expect(await stores.get({ namespace: 'default', scope: 'short-term', key: 'expiring' }, 0)).toBeNull()
    expect(await memory.exists('short-term', '0')).toBe(true)
    await pass(60 * minute)
    expect(await memory.exists('short-term', '0')).toBe(false)
    expect(await memory.exists('short-term', '8')).toBe(true)
    await pass(day)
    expect(await memory.exists('episodic', 'old')).toBe(false)
    expect(await memory.restore('episodic', 'old')).toBe(true)
  })

  it('lets one of several processes take each turn, and another one when that is gone', async () => {
    const { open, pass, turns } = setUp({ random: Math.random })
    const first = open().scheduler
    const second = open().scheduler
    first.start()
    second.start()
    await pass(60 * minute)
    const done = count(turns, 'expire', 'done')
    expect(done).toBeGreaterThanOrEqual(10)
    expect(done).toBeLessThanOrEqual(13)
    expect(count(turns, 'expire', 'skipped')).toBeGreaterThan(5)
    await first.stop()
    turns.length = 0
    await pass(60 * minute)
    expect(count(turns, 'expire', 'done')).toBeGreaterThanOrEqual(10)
  })

  it('takes its turn although a process whose clock is far ahead took one', async () => {
    const { open, pass, turns, time } = setUp()
    const { scheduler } = open()
    const year = 365 * 24 * 60 * minute
    time.advance(year)
    await scheduler.run('expire')
    time.advance(-year)
    turns.length = 0
    scheduler.start()
    await pass(5 * minute)
    expect(count(turns, 'expire', 'done')).toBe(1)
    await scheduler.stop()
  })

  it('does not overlap turns, and stops after the one under way', async () => {
    const { open, pending } = setUp()
    const { memory, scheduler } = open()
    let running = 0
    let ended = 0
    let most = 0
    const cleanup = memory.cleanup.bind(memory)
    memory.cleanup = async (options) => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      ended++
      return cleanup(options)
    }
    scheduler.start()
    const turns = [scheduler.run('expire'), scheduler.run('evict'), scheduler.run('archive')]
    await scheduler.stop()
    expect(ended).toBe(3)
    expect((await Promise.all(turns)).map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done'])
    expect(most).toBe(1)
    expect(pending.size).toBe(0)
  })

  it('plans no more turns when it is stopped during one that it planned', async () => {
    const { open, pass, turns, pending, stores } = setUp()
    const { scheduler } = open()
    const { sweep } = stores
    stores.sweep = (selection) => {
      void scheduler.stop()
      return sweep(selection)
    }
    scheduler.start()
    await pass(6 * minute)
    expect(turns).toMatchObject([{ task: 'expire', outcome: 'done' }])
    expect(pending.size).toBe(0)
  })

  it('may be stopped by whoever is told of a turn', async () => {
    const { memory } = setUp().open()
    const scheduler = createCleanupScheduler(memory, { onTurn: () => scheduler.stop() })
    await scheduler.run('expire')
    await scheduler.stop()
    expect((await scheduler.run('evict')).outcome).toBe('done')
  })

  it('puts turns off by up to a tenth of the interval', async () => {
    const { open, pending, time } = setUp({ random: () => 0.5 })
    open().scheduler.start()
    const [first] = [...pending.values()].sort((a, b) => a.at - b.at)
    expect((first?.at ?? 0) - time.clock()).toBe(5 * minute * 1.05)
  })

  it('waits as long as it is told, also beyond what a timer can', async () => {
    const { open, pass, turns, pending, time } = setUp({ intervals: { archive: 40 * day } })
    open().scheduler.start()
    expect(Math.max(...[...pending.values()].map(({ at }) => at - time.clock()))).toBeLessThan(2 ** 31)
    await pass(40 * day - 1)
    expect(count(turns, 'archive', 'done') + count(turns, 'archive', 'skipped')).toBe(0)
    await pass(1)
    expect(count(turns, 'archive', 'done')).toBe(1)
  })

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('refuses an interval of %s', (expire) => {
    const { open } = setUp({ intervals: { expire } })
    expect(open).toThrow('intervals.expire must be')
  })

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('refuses a jitter of %d', (jitter) => {
    expect(setUp({ jitter }).open).toThrow('jitter must be')
  })

  it('refuses tasks and options that there are not', async () => {
    const { open, turns } = setUp()
    const wrong = {
      code: 'MEMORY_INVALID_INPUT',
      message: 'there is no task foo: the tasks are expire, evict, archive',
    }
    await expect(open().scheduler.run('foo' as never)).rejects.toMatchObject(wrong)
    expect(turns).toEqual([])
    expect(setUp({ intervals: { foo: 1 } as never }).open).toThrow('there is no task foo')
    expect(setUp({ jiter: 1 } as never).open).toThrow('Unrecognized key: "jiter"')
  })

  it.each([undefined, null, {}, Promise.resolve()])('refuses %o for a memory', (memory) => {
    expect(() => createCleanupScheduler(memory as never)).toThrow(
      expect.objectContaining({
        code: 'MEMORY_INVALID_INPUT',
        message: expect.stringMatching(/^memory: must be a memory/),
      }),
    )
  })

  it('tells of a failure and goes on', async () => {
    const { open, pass, turns } = setUp()
    const { memory, scheduler } = open()
    scheduler.start()
    await memory.close()
    await pass(10 * minute)
    expect(turns).toMatchObject([
      { task: 'expire', outcome: 'failed', error: { code: 'MEMORY_CLOSED' } },
      { task: 'expire', outcome: 'failed' },
    ])
  })
})

it('gives a turn that two processes want at the same moment to one of them', async () => {
  const { open } = setUp()
  const taken = await Promise.all([open(), open()].map(({ scheduler }) => scheduler.run('expire')))
  expect(taken.map(({ outcome }) => outcome).sort()).toEqual(['done', 'skipped'])
})

it('keeps no process alive', async () => {
  const set = vi.spyOn(globalThis, 'setTimeout')
  onTestFinished(() => set.mockRestore())
  const scheduler = createCleanupScheduler(createMemoryManager({ stores: createInMemoryStore() }))
  scheduler.start()
  const timers = set.mock.results.map(({ value }) => value as NodeJS.Timeout)
  expect(timers).toHaveLength(3)
  expect(timers.some((timer) => timer.hasRef())).toBe(false)
  await scheduler.stop()
})

it('takes the next turn also when somebody has looked through short-term memory all the time', async () => {
  const { open, time } = setUp()
  const { memory, scheduler } = open()
  expect((await scheduler.run('expire')).outcome).toBe('done')
  for (let passed = 0; passed < 5; passed++) {
    expect((await scheduler.run('expire')).outcome).toBe('skipped')
    await memory.search('short-term', {})
    time.advance(minute)
  }
  expect((await scheduler.run('expire')).outcome).toBe('done')
  expect((await scheduler.run('expire')).outcome).toBe('skipped')
})

it('takes its turn although values of others have a member that is called as its key is', async () => {
  const { open } = setUp()
  const { memory, scheduler } = open()
  const key = 'scheduler:expire'
  for (let i = 0; i < 20; i++) await memory.write('short-term', `other ${i}`, { key, takenAt: 0 })
  expect((await scheduler.run('expire')).outcome).toBe('done')
  expect((await scheduler.run('expire')).outcome).toBe('skipped')
})
