import { PGlite } from '@electric-sql/pglite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createUpkeep, tend } from './upkeep.ts'

it('takes back the space of dead rows, and lets go the log of what was written', async () => {
  const engine = new PGlite()
  const numberIn = async (statement: string): Promise<number> =>
    Number((await engine.query<{ n: string }>(`select ${statement} as n`)).rows[0]?.n)
  const size = () => numberIn("pg_relation_size('notes')")
  const dead = () => numberIn("(select n_dead_tup from pg_stat_user_tables where relname = 'notes')")
  const logged = () =>
    numberIn('(select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) from pg_control_checkpoint())')
  const rewrite = async (): Promise<void> => {
    await engine.exec("update notes set text = md5(text) || repeat('x', 1000)")
    await engine.exec('select pg_stat_force_next_flush()')
  }
  await engine.exec(
    "create table notes as select n, repeat('x', 1000) as text from generate_series(1, 3000) n",
  )
  await rewrite()
  expect(await dead()).toBe(3000)
  await tend(engine)
  expect(await dead()).toBe(0)
  const once = await size()
  for (let i = 0; i < 12; i++) {
    await rewrite()
    await tend(engine)
  }
  expect(await size()).toBe(once)
  expect(await logged()).toBeLessThan(32 * 1024 * 1024)
  await engine.close()
})

describe('upkeep', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const counting = () => {
    const due = vi.fn(async () => {})
    const upkeep = createUpkeep(due)
    const call = (times: number): void => {
      for (let i = 0; i < times; i++) upkeep.called()
    }
    return { due, upkeep, call }
  }

  it('is due once the database rests after a hundred calls', () => {
    const { due, call } = counting()
    call(99)
    vi.advanceTimersByTime(5000)
    expect(due).toHaveBeenCalledTimes(0)
    call(1)
    vi.advanceTimersByTime(900)
    call(1)
    vi.advanceTimersByTime(900)
    expect(due).toHaveBeenCalledTimes(0)
    vi.advanceTimersByTime(100)
    expect(due).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(5000)
    expect(due).toHaveBeenCalledTimes(1)
  })

  it('is due after five thousand calls without a rest, one at a time', async () => {
    const { due, upkeep, call } = counting()
    let end = (): void => {}
    due.mockImplementationOnce(() => new Promise<void>((resolve) => (end = resolve)))
    call(10_000)
    expect(due).toHaveBeenCalledTimes(1)
    end()
    await upkeep.close()
    call(5000)
    expect(due).toHaveBeenCalledTimes(2)
  })

  it('waits for what runs when it is closed, also for what fails, and begins nothing more', async () => {
    const { due, upkeep, call } = counting()
    due.mockRejectedValueOnce(new Error('the disk is full'))
    call(5000)
    call(100)
    await upkeep.close()
    vi.advanceTimersByTime(5000)
    expect(due).toHaveBeenCalledTimes(1)
  })
})
