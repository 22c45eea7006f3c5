import type { MemoryManager, SessionSummary } from '@recall/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { windowEntry as entry, openMemory } from '../../test/support.ts'
import { addToWindow, readWindow } from './window.ts'

const ids = async (memory: MemoryManager) => (await readWindow(memory)).map(({ sessionId }) => sessionId)

it('holds the newest sessions by end date, newest last, in whatever order they are added', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7], { minLength: 1 }),
      fc.integer({ min: 1, max: 6 }),
      async (order, maxEntries) => {
        const memory = openMemory()
        for (const minutes of order) await addToWindow(memory, entry(`s${minutes}`, minutes), { maxEntries })
        const newest = [...order].sort((a, b) => a - b).slice(-maxEntries)
        expect(await ids(memory)).toEqual(newest.map((minutes) => `s${minutes}`))
      },
    ),
    { numRuns: 50 },
  )
})

it('holds no more when others add theirs at the same moment', async () => {
  const shared = openMemory()
  const add = (memory: MemoryManager, n: number) => addToWindow(memory, entry(`s${n}`, n), { maxEntries: 3 })
  for (const n of [1, 2, 3]) await add(shared, n)
  const meanwhile = (...others: number[]): MemoryManager => ({
    ...shared,
    async write(...given: Parameters<MemoryManager['write']>) {
      for (const n of others.splice(0)) await add(shared, n)
      return shared.write(...given)
    },
  })
  expect(await add(meanwhile(5, 6), 7)).toBe('added')
  expect(await ids(shared)).toEqual(['s5', 's6', 's7'])
  expect(await add(meanwhile(9, 10, 11), 8)).toBe('older')
  expect(await ids(shared)).toEqual(['s9', 's10', 's11'])
})

it('says what became of an entry', async () => {
  const memory = openMemory()
  const add = (each: SessionSummary) => addToWindow(memory, each, { maxEntries: 1 })
  expect(await add(entry('a', 1))).toBe('added')
  expect(await add(entry('a', 1))).toBe('present')
  expect(await add(entry('a', 2, { messageCount: 40 }))).toBe('updated')
  expect(await add(entry('a', 2, { messageCount: 41 }))).toBe('updated')
  expect(await add(entry('b', 0))).toBe('older')
  expect(await add(entry('c', 3))).toBe('added')
  expect(await ids(memory)).toEqual(['c'])
})

it('does not go back to an earlier end of a session', async () => {
  const memory = openMemory()
  await addToWindow(memory, entry('a', 5), { maxEntries: 5 })
  expect(await addToWindow(memory, entry('a', 3), { maxEntries: 5 })).toBe('present')
  expect((await readWindow(memory))[0]?.date).toBe(entry('a', 5).date)
})

it('keeps its entries beyond the lifetime of other short-term entries', async () => {
  const memory = openMemory()
  await addToWindow(memory, entry('a', 1), { maxEntries: 5 })
  const record = await memory.read('short-term', 'session:a', { includeMetadata: true })
  expect(record?.metadata).toMatchObject({ expiresAt: null, type: 'session-summary' })
})

it('is shrunk to a smaller size with the next session', async () => {
  const memory = openMemory()
  for (const minutes of [1, 2, 3]) await addToWindow(memory, entry(`s${minutes}`, minutes), { maxEntries: 5 })
  await addToWindow(memory, entry('s4', 4), { maxEntries: 2 })
  expect(await ids(memory)).toEqual(['s3', 's4'])
})

it('tells sessions that ended at the same moment in one order, whichever the store finds first', async () => {
  const memory = openMemory()
  for (const id of ['a', 'b']) await addToWindow(memory, entry(id, 1), { maxEntries: 5 })
  const reversed: MemoryManager = Object.assign(Object.create(memory), {
    search: async (...args: Parameters<MemoryManager['search']>) => (await memory.search(...args)).reverse(),
  })
  expect([await ids(memory), await ids(reversed)]).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ])
})

it('is shrunk also with a session that it holds, where a crash left one too many', async () => {
  const memory = openMemory()
  for (const minutes of [1, 2, 3]) await addToWindow(memory, entry(`s${minutes}`, minutes), { maxEntries: 3 })
  expect(await addToWindow(memory, entry('s3', 3), { maxEntries: 2 })).toBe('present')
  expect(await ids(memory)).toEqual(['s2', 's3'])
})

it('has up to fifty sessions, and one whose date cannot be read before all others', async () => {
  const memory = openMemory()
  const all = Array.from({ length: 50 }, (_, index) => (index === 0 ? 'undated' : `s${index}`))
  for (const [index, id] of all.entries())
    await addToWindow(memory, entry(id, index, index === 0 ? { date: 'on a Monday' } : {}), {
      maxEntries: 50,
    })
  expect(await ids(memory)).toEqual(all)
})

it('takes another summary of the same messages', async () => {
  const memory = openMemory()
  await addToWindow(memory, entry('a', 1), { maxEntries: 5 })
  expect(await addToWindow(memory, entry('a', 1, { summary: 'better' }), { maxEntries: 5 })).toBe('updated')
  expect(await readWindow(memory)).toMatchObject([{ summary: 'better' }])
})
