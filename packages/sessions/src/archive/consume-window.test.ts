import {
  createInMemoryStore,
  createMemoryManager,
  MemoryErrorCode,
  type MemoryManager,
  windowNotesKey,
} from '@recall/core'
import { expect, it } from 'vitest'
import { clock, windowEntry as entry, minute, openMemory, start } from '../../test/support.ts'
import { clearWindow, consumeWindow } from './consume-window.ts'
import { addToWindow, readWindow } from './window.ts'

const ids = async (memory: MemoryManager) => (await readWindow(memory)).map(({ sessionId }) => sessionId)

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

it('takes what has just ended although later sessions were consumed, unless it was given itself', async () => {
  const memory = openMemory()
  const justEnded = { maxEntries: 5, justEnded: true }
  await addToWindow(memory, entry('late', 20), justEnded)
  await consumeWindow(memory, { clear: true, clock })
  expect(await addToWindow(memory, entry('late', 20), justEnded)).toBe('consumed')
  expect(await addToWindow(memory, entry('open meanwhile', 5), { maxEntries: 5 })).toBe('consumed')
  expect(await addToWindow(memory, entry('open meanwhile', 5), justEnded)).toBe('added')
  await consumeWindow(memory, { clear: true, clock })
  expect(await addToWindow(memory, entry('open meanwhile', 5), justEnded)).toBe('consumed')
  // It went on, while a later one was consumed.
  expect(await addToWindow(memory, entry('open meanwhile', 15), justEnded)).toBe('added')
  expect(await ids(memory)).toEqual(['open meanwhile'])
})

it('tells one by one the last hundred sessions that were consumed', async () => {
  const memory = openMemory()
  const justEnded = { maxEntries: 5, justEnded: true }
  for (let i = 0; i < 101; i++) {
    await addToWindow(memory, entry(`s${i}`, i), justEnded)
    await consumeWindow(memory, { clear: true, clock })
  }
  expect(await addToWindow(memory, entry('s1', 1), justEnded)).toBe('consumed')
  expect(await addToWindow(memory, entry('s0', 0), justEnded)).toBe('added')
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
  const episodes = await memory.search<string>('episodic', {})
  const notes = episodes.filter(({ key }) => key.startsWith('window:'))
  expect(notes.map(({ value }) => value)).toEqual(['Ask Ana about the pool.'])
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

it.each([{ clearing: true }, { clear: 'no' }, { clear: true, now: clock }])(
  'neither gives nor removes anything where an option is wrong: %j',
  async (options) => {
    const memory = openMemory()
    await addToWindow(memory, entry('a', -1), { maxEntries: 5 })
    const refused = { code: MemoryErrorCode.INVALID_INPUT }
    await expect(consumeWindow(memory, options as never)).rejects.toMatchObject(refused)
    expect(await ids(memory)).toEqual(['a'])
  },
)

it('removes nothing for an option that there is not', async () => {
  const memory = openMemory()
  await addToWindow(memory, entry('a', -1), { maxEntries: 5 })
  const seen = await consumeWindow(memory)
  await expect(clearWindow(memory, seen, { now: clock } as object)).rejects.toMatchObject({
    code: MemoryErrorCode.INVALID_INPUT,
  })
  expect(await ids(memory)).toEqual(['a'])
})
