import type { PGlite } from '@electric-sql/pglite'
import { MemoryErrorCode } from '@recall/core'
import { drizzle } from 'drizzle-orm/pglite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { asMemoryErrors } from '../src/engines/postgres-errors.ts'
import { createPostgresStore, type PostgresStore } from '../src/postgres-store.ts'

/** The pause before another run. */
vi.mock('node:timers/promises', () => ({ setTimeout: async () => {} }))

const timeoutMs = 1000
const place = { namespace: 'default', scope: 'episodic' } as const

/** A store on an engine that takes its time, and the statements that it was given. */
function openSlow({ eachMs, rows }: { eachMs: number; rows: (statement: number) => unknown[] }) {
  const statements: string[] = []
  const engine = {
    query: async (text: string) => {
      const answer = rows(statements.push(text))
      await new Promise((answered) => setTimeout(answered, eachMs))
      return { rows: answer }
    },
    transaction: (run: (within: unknown) => Promise<unknown>) => run(engine),
  }
  return { store: createPostgresStore(drizzle(engine as unknown as PGlite), { timeoutMs }), statements }
}

const page = (size: number) => Array.from({ length: size }, (_, i) => [`${i}`])

const calls: [name: string, call: (store: PostgresStore) => Promise<unknown>, size: number, inOne: number][] =
  [
    ['clear', (store) => store.removeAll(place), 5000, 1],
    ['sweep', (store) => store.sweep({ ...place, now: 9, dryRun: false }), 5000, 1],
    [
      'move to the archive',
      (store) => store.cold.archive({ ...place, before: 9, now: 9, dryRun: false }),
      500,
      6,
    ],
  ]

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe.each(calls)('the deadline of a %s', (_, call, size, inOne) => {
  it('ends it: after the step that was on its way nothing more is done', async () => {
    const { store, statements } = openSlow({ eachMs: timeoutMs + 1, rows: () => page(size) })
    const refused = expect(call(store)).rejects.toMatchObject({ code: MemoryErrorCode.TIMEOUT })
    await vi.advanceTimersByTimeAsync(timeoutMs)
    await refused
    await vi.advanceTimersByTimeAsync(100 * timeoutMs)
    expect(statements).toHaveLength(inOne)
  })

  it('is that of each step, however many there are', async () => {
    const eachMs = (0.9 * timeoutMs) / inOne
    const { store } = openSlow({ eachMs, rows: (statement) => page(statement <= 3 * inOne ? size : 0) })
    const done = call(store)
    await vi.advanceTimersByTimeAsync(10 * timeoutMs)
    expect(await done).toEqual(expect.anything())
  })
})

it('is not run once more, what Postgres has undone after the deadline', async () => {
  const call = vi.fn(async () => {
    await new Promise((answered) => setTimeout(answered, timeoutMs + 1))
    throw Object.assign(new Error('deadlock detected'), { code: '40P01' })
  })
  const made = asMemoryErrors(MemoryErrorCode.WRITE_FAILED, call, timeoutMs)
  const refused = expect(made).rejects.toMatchObject({ code: MemoryErrorCode.TIMEOUT })
  await vi.advanceTimersByTimeAsync(10 * timeoutMs)
  await refused
  expect(call).toHaveBeenCalledTimes(1)
})
