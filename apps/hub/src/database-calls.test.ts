import { MemoryErrorCode } from '@recall/core'
import { expect, it } from 'vitest'
import { createDatabaseCalls } from './database-calls.ts'

it('runs one search fewer at once than there are connections', async () => {
  const { search } = createDatabaseCalls({ connections: 3, databaseTimeoutMs: 10_000 })
  let running = 0
  let most = 0
  const run = async () => {
    most = Math.max(most, ++running)
    await new Promise(setImmediate)
    running--
  }
  await Promise.all(Array.from({ length: 10 }, () => search(run)))
  expect(most).toBe(2)
})

it('leaves half of the places to searches of all memories, and half of the others to other agents', async () => {
  const { search, searchOf } = createDatabaseCalls({ connections: 10, databaseTimeoutMs: 10_000 })
  const running = { shared: 0, a: 0, b: 0 }
  let free = () => {}
  const freed = new Promise<void>((resolve) => (free = resolve))
  const hold = (name: keyof typeof running) => async () => {
    running[name]++
    await freed
  }
  const many = <T>(make: () => T): T[] => Array.from({ length: 20 }, make)
  const all = [...many(() => searchOf('a', hold('a'))), ...many(() => searchOf('b', hold('b')))]
  await new Promise(setImmediate)
  expect(running).toEqual({ shared: 0, a: 2, b: 2 })
  all.push(...many(() => search(hold('shared'))))
  await new Promise(setImmediate)
  expect(running).toEqual({ shared: 5, a: 2, b: 2 })
  free()
  await Promise.all(all)
  expect(running).toEqual({ shared: 20, a: 20, b: 20 })
})

it('does not begin a search that nobody waits for any more', async () => {
  const { search } = createDatabaseCalls({ connections: 1, databaseTimeoutMs: 20 })
  let free = () => {}
  const first = search(() => new Promise<void>((resolve) => (free = resolve)))
  const begun: string[] = []
  const second = search(async () => void begun.push('second'))
  await expect(first).rejects.toMatchObject({ code: MemoryErrorCode.TIMEOUT })
  await expect(second).rejects.toMatchObject({ code: MemoryErrorCode.TIMEOUT })
  free()
  await search(async () => void begun.push('third'))
  expect(begun).toEqual(['third'])
})

it('refuses calls while hundreds wait, also those that nobody waits for any more', async () => {
  const { call, search } = createDatabaseCalls({ connections: 10, databaseTimeoutMs: 20 })
  const answers: (() => void)[] = []
  const hang = () => new Promise<void>((resolve) => answers.push(resolve))
  const hanging = await Promise.allSettled(Array.from({ length: 500 }, () => call(hang)))
  expect(hanging.every(({ status }) => status === 'rejected')).toBe(true)
  const refused = { code: MemoryErrorCode.UNAVAILABLE, retryAfterMs: 1000 }
  await expect(call(hang)).rejects.toMatchObject(refused)
  await expect(search(hang)).rejects.toMatchObject(refused)
  expect(answers).toHaveLength(500)
  for (const answer of answers) answer()
  await new Promise(setImmediate)
  expect(await call(async () => 'answered')).toBe('answered')
})
