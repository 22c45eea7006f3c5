import {
  createInMemoryStore,
  createMemoryManager,
  MemoryErrorCode,
  type MemoryManager,
  type SessionSummary,
  windowNotesKey,
} from '@recall/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { clock, minute, openMemory, start } from '../../test/support.ts'
import { addToWindow, clearWindow, consumeWindow, readWindow } from './window.ts'

const entry = (sessionId: string, minutes: number, more: Partial<SessionSummary> = {}): SessionSummary => ({
  sessionId,
  date: new Date(start + minutes * minute).toISOString(),
  duration: '30m',
  messageCount: 34,
  summary: `summary of ${sessionId}`,
  archive: `conversation:${sessionId}`,
  ...more,
})

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

it('does not get a session back that was read, and had left it before it was cleared', async () => {
  const memory = openMemory()
  await addToWindow(memory, entry('a', -1), { maxEntries: 5 })
  const seen = await consumeWindow(memory)
  await memory.delete('short-term', 'session:a')
  await clearWindow(memory, seen, { clock })
  expect(await addToWindow(memory, entry('a', -1), { maxEntries: 5 })).toBe('consumed')
})

it('is read as markdown and stays as it is, unless it is cleared', async () => {
  const memory = openMemory()
  await addToWindow(memory, entry('b', 20), { maxEntries: 5 })
  await addToWindow(memory, entry('a', 10), { maxEntries: 5 })
  const { text, entries } = await consumeWindow(memory)
  expect(text).toBe(`## Session a — 2026-03-06T10:10:00.000Z
**Duration**: 30m · **Messages**: 34 · **Archive**: conversation:a

summary of a

---

## Session b — 2026-03-06T10:20:00.000Z
**Duration**: 30m · **Messages**: 34 · **Archive**: conversation:b

summary of b
`)
  expect(entries).toHaveLength(2)
  expect((await consumeWindow(memory, { clear: true })).text).toBe(text)
  expect(await consumeWindow(memory)).toEqual({ text: '', entries: [] })
})

it('does not take back what was consumed, and takes what ended later', async () => {
  const memory = openMemory()
  await addToWindow(memory, entry('a', 10), { maxEntries: 5 })
  await consumeWindow(memory, { clear: true, clock })
  expect(await addToWindow(memory, entry('a', 10), { maxEntries: 5 })).toBe('consumed')
  expect(await addToWindow(memory, entry('older', 5), { maxEntries: 5 })).toBe('consumed')
  expect(await addToWindow(memory, entry('a', 11), { maxEntries: 5 })).toBe('added')
  await consumeWindow(memory, { clear: true, clock })
  expect(await addToWindow(memory, entry('a', 11), { maxEntries: 5 })).toBe('consumed')
})

it('remembers for good, and for all sessions, up to where it was consumed', async () => {
  let now = start
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: () => now })
  for (const [id, minutes] of [
    ['early', 5],
    ['late', 20],
  ] as const)
    await addToWindow(memory, entry(id, minutes), { maxEntries: 5 })
  const [, late] = (await consumeWindow(memory)).entries
  await clearWindow(memory, { entries: late ? [late] : [] }, { clock })
  // What was not read yet is kept up to date, although it ended before.
  expect(await addToWindow(memory, entry('early', 6), { maxEntries: 5 })).toBe('updated')
  await consumeWindow(memory, { clear: true, clock })
  now += 400 * 24 * 60 * minute
  expect(await addToWindow(memory, entry('late', 20), { maxEntries: 5 })).toBe('consumed')
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

it('takes sessions after one was consumed that is dated far ahead', async () => {
  const memory = openMemory()
  await addToWindow(memory, entry('a', 10), { maxEntries: 5 })
  await addToWindow(memory, entry('future', 0, { date: '2099-01-01T00:00:00.000Z' }), { maxEntries: 5 })
  await consumeWindow(memory, { clear: true, clock: () => start + 20 * minute })
  expect(await addToWindow(memory, entry('a', 10), { maxEntries: 5 })).toBe('consumed')
  expect(await addToWindow(memory, entry('next', 30), { maxEntries: 5 })).toBe('added')
})

it('keeps a session that went on after it was read', async () => {
  const memory = openMemory()
  for (const id of ['a', 'b']) await addToWindow(memory, entry(id, 10), { maxEntries: 5 })
  const seen = await consumeWindow(memory)
  await addToWindow(memory, entry('b', 11), { maxEntries: 5 })
  await clearWindow(memory, seen, { clock })
  expect(await ids(memory)).toEqual(['b'])
})

it('keeps an entry that is added while it is consumed', async () => {
  const memory = openMemory()
  await addToWindow(memory, entry('a', 10), { maxEntries: 5 })
  const racing: MemoryManager = Object.assign(Object.create(memory), {
    atomicUpdate: async (...args: Parameters<MemoryManager['atomicUpdate']>) => {
      await addToWindow(memory, entry('b', 11), { maxEntries: 5 })
      return memory.atomicUpdate(...args)
    },
  })
  expect((await consumeWindow(racing, { clear: true })).entries).toHaveLength(1)
  expect(await ids(memory)).toEqual(['b'])
})

it('may be emptied by two who have read the same', async () => {
  const memory = openMemory()
  await addToWindow(memory, entry('s', 0), { maxEntries: 5 })
  const seen = await consumeWindow(memory)
  for (const _ of ['first', 'second']) await clearWindow(memory, seen, { clock })
  expect(await readWindow(memory)).toEqual([])
  expect(await addToWindow(memory, entry('s', 0), { maxEntries: 5 })).toBe('consumed')
})

it('makes an episode of the notes that were read, and keeps what was written since', async () => {
  const memory = openMemory()
  await memory.write('short-term', windowNotesKey, 'Ask Ana about the pool.')
  expect((await consumeWindow(memory, { clear: true, clock })).notes).toBe('Ask Ana about the pool.')
  expect((await memory.search('episodic', {})).map(({ value }) => value)).toEqual(['Ask Ana about the pool.'])
  expect(await memory.read('short-term', windowNotesKey)).toBeNull()

  await memory.write('short-term', windowNotesKey, 'And about Friday.')
  await clearWindow(memory, { entries: [], notes: 'Ask Ana about the pool.' }, { clock: () => start + 1 })
  expect(await memory.read('short-term', windowNotesKey)).toBe('And about Friday.')
  expect(await memory.search('episodic', {})).toHaveLength(1)
})

it('keeps notes that are written while it is emptied, and removes the sessions', async () => {
  const memory = openMemory()
  await addToWindow(memory, entry('s', 0), { maxEntries: 5 })
  await memory.write('short-term', windowNotesKey, 'Ask Ana about the pool.')
  let meanwhile: string | undefined = 'And about Friday.'
  const racing: MemoryManager = Object.assign(Object.create(memory), {
    atomicUpdate: async (...args: Parameters<MemoryManager['atomicUpdate']>) => {
      if (meanwhile !== undefined) await memory.write('short-term', windowNotesKey, meanwhile)
      meanwhile = undefined
      return memory.atomicUpdate(...args)
    },
  })
  expect((await consumeWindow(racing, { clear: true, clock })).notes).toBe('Ask Ana about the pool.')
  expect(await memory.read('short-term', windowNotesKey)).toBe('And about Friday.')
  expect(await readWindow(memory)).toEqual([])
  expect((await memory.search('episodic', {})).map(({ value }) => value)).toEqual(['Ask Ana about the pool.'])
})

it('makes an episode of each of the notes that are read at the same moment', async () => {
  const memory = openMemory()
  for (const notes of ['first', 'second']) {
    await memory.write('short-term', windowNotesKey, notes)
    await consumeWindow(memory, { clear: true, clock })
  }
  expect((await memory.search('episodic', {})).map(({ value }) => value).sort()).toEqual(['first', 'second'])
  expect(await memory.read('short-term', windowNotesKey)).toBeNull()
})

it('makes one episode of notes also after it was interrupted', async () => {
  const memory = openMemory()
  await memory.write('short-term', windowNotesKey, 'Ask Ana about the pool.')
  const dying: MemoryManager = Object.assign(Object.create(memory), {
    atomicUpdate: async () => {
      throw new Error('killed')
    },
  })
  await expect(consumeWindow(dying, { clear: true, clock })).rejects.toThrow('killed')
  await consumeWindow(memory, { clear: true, clock: () => start + 60_000 })
  expect((await memory.search('episodic', {})).map(({ value }) => value)).toEqual(['Ask Ana about the pool.'])
})

it('is left as it is where its notes are written all the time', async () => {
  const memory = openMemory()
  await memory.write('short-term', windowNotesKey, 'Ask Ana about the pool.')
  let tries = 0
  const racing: MemoryManager = Object.assign(Object.create(memory), {
    atomicUpdate: async (...args: Parameters<MemoryManager['atomicUpdate']>) => {
      if (++tries < 9) await memory.write('short-term', windowNotesKey, 'Ask Ana about the pool.')
      return memory.atomicUpdate(...args)
    },
  })
  const conflict = { code: MemoryErrorCode.CONFLICT }
  await expect(consumeWindow(racing, { clear: true, clock })).rejects.toMatchObject(conflict)
  expect(tries).toBe(5)
  expect(await memory.read('short-term', windowNotesKey)).toBe('Ask Ana about the pool.')
})
