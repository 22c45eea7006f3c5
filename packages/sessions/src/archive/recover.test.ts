import {
  conversationKey,
  conversationType,
  createInMemoryStore,
  createMemoryManager,
  MemoryErrorCode,
} from '@recall/core'
import { expect, it } from 'vitest'
import {
  clock,
  conversation,
  fakeLm,
  lmAnswer,
  minute,
  openMemory,
  readArchive,
  start,
  text,
} from '../../test/support.ts'
import { archiveSession, createCheckpoint } from './archive-session.ts'
import { consumeWindow } from './consume-window.ts'
import { recoverWindow } from './recover.ts'
import { addToWindow, readWindow } from './window.ts'

it('enters a session whose end was never seen, from its checkpoint', async () => {
  const memory = openMemory()
  const facts = { skipped: {}, project: '/home/ana/shop' }
  await createCheckpoint(memory, conversation('s', ['Fix the login', 'done'], { facts }), { clock })
  expect(await recoverWindow(memory)).toBe('s')
  expect(await readWindow(memory)).toEqual([
    {
      sessionId: 's',
      date: '2026-03-06T10:01:00.000Z',
      duration: '1m',
      messageCount: 2,
      summary: 'Fix the login\n\nLast answer: done',
      archive: 'conversation:s',
      project: '/home/ana/shop',
    },
  ])
  expect(await recoverWindow(memory)).toBe(null)
})

it('enters all of a session of which one part is mere commands', async () => {
  const memory = openMemory()
  const session = conversation('s', ['Fix the login', { role: 'user', content: [text('/clear')] }])
  await createCheckpoint(memory, session, { partSize: 1 })
  expect(await recoverWindow(memory)).toBe('s')
  expect(await readWindow(memory)).toMatchObject([{ messageCount: 2 }])
})

it('builds the same entry as an orderly end would have, also from several parts', async () => {
  const messages = Array.from({ length: 9 }, (_, index) => `message ${index} ${'x'.repeat(60)}`)
  const memory = openMemory()
  await archiveSession(memory, conversation('s', messages), { partSize: 200 })
  const expected = await readWindow(memory)
  await memory.delete('short-term', 'session:s')
  expect(await recoverWindow(memory)).toBe('s')
  expect(await readWindow(memory)).toEqual(expected)
})

it('counts all parts of a session without times, which end alike, whichever was written last', async () => {
  const messages = Array.from({ length: 9 }, () => ({ at: undefined, content: [text('x'.repeat(90))] }))
  let now = start
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: () => now++ })
  await createCheckpoint(memory, conversation('s', messages), { partSize: 200, clock })
  await memory.write('episodic', conversationKey('s'), await readArchive(memory, 's'), {
    type: conversationType,
  })
  expect(await recoverWindow(memory)).toBe('s')
  expect(await readWindow(memory)).toMatchObject([{ sessionId: 's', messageCount: 9, duration: 'unknown' }])
})

it('counts what is left of a session when one of its parts was deleted', async () => {
  const memory = openMemory()
  const messages = Array.from({ length: 3 }, (_, index) => `message ${index} ${'x'.repeat(60)}`)
  const { parts } = await createCheckpoint(memory, conversation('s', messages), { partSize: 50, clock })
  expect(parts).toHaveLength(3)
  await memory.delete('episodic', conversationKey('s', 2))
  expect(await recoverWindow(memory)).toBe('s')
  expect(await readWindow(memory)).toMatchObject([{ messageCount: 2, duration: '2m' }])
})

it('counts the parts of a session that a clean-up moved to cold storage', async () => {
  const messages = Array.from({ length: 9 }, (_, index) => `message ${index} ${'x'.repeat(60)}`)
  const memory = openMemory()
  const { parts } = await createCheckpoint(memory, conversation('s', messages), { partSize: 200, clock })
  await memory.cleanup({ archiveBefore: start + minute })
  await memory.restore('episodic', conversationKey('s', parts.length))
  await recoverWindow(memory)
  expect(await readWindow(memory)).toMatchObject([{ messageCount: 9, duration: '8m' }])
})

it('leaves out a session in which nobody said more than commands', async () => {
  const memory = openMemory()
  await createCheckpoint(memory, conversation('said', ['Fix the login', 'done']))
  const silent = [{ content: [text('[image]')] }, '/clear'].map((item, index) =>
    conversation(`silent-${index}`, [item], { from: start + 60 * minute }),
  )
  for (const each of silent) await createCheckpoint(memory, each, { lm: fakeLm(lmAnswer('Nothing.')) })
  expect(await recoverWindow(memory)).toBe('said')
  expect(await recoverWindow(memory)).toBe(null)
})

it('takes the newest session by its end, not the one archived last, and no helper', async () => {
  const memory = openMemory()
  await createCheckpoint(memory, conversation('late', ['a', 'b'], { from: start + 60 * minute }))
  await createCheckpoint(memory, conversation('early', ['a', 'b']))
  await archiveSession(
    memory,
    conversation('late/helper', ['a', 'b'], { from: start + 90 * minute, parent: 'late' }),
  )
  expect(await recoverWindow(memory)).toBe('late')
})

it('takes an archive whose date cannot be read for the oldest one', async () => {
  let now = start
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: () => now++ })
  await createCheckpoint(memory, conversation('early', ['a', 'b']))
  await createCheckpoint(memory, conversation('undated', ['a', 'b']))
  const archive = { ...(await readArchive(memory, 'undated')), date: 'on a Monday' }
  await memory.write('episodic', 'conversation:undated', archive, { type: 'conversation' })
  await createCheckpoint(memory, conversation('late', ['a', 'b'], { from: start + 60 * minute }))
  expect(await recoverWindow(memory)).toBe('late')
})

it('takes a session with more helpers than archives are looked at', async () => {
  let now = start
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: () => now++ })
  await createCheckpoint(memory, conversation('s', ['a', 'b']))
  for (let i = 0; i < 25; i++) {
    const helper = conversation(`s/helper-${i}`, ['a', 'b'], { from: start + 90 * minute, parent: 's' })
    await archiveSession(memory, helper)
  }
  expect(await recoverWindow(memory)).toBe('s')
})

it('brings an entry up to a later checkpoint of its session', async () => {
  const memory = openMemory()
  await archiveSession(memory, conversation('s', ['a', 'b']))
  await createCheckpoint(memory, conversation('s', ['a', 'b', 'c']))
  expect(await recoverWindow(memory)).toBe('s')
  expect(await readWindow(memory)).toMatchObject([{ messageCount: 3 }])
})

it('leaves the words of a person in an entry that it brings up to a later archive', async () => {
  const memory = openMemory()
  await archiveSession(memory, conversation('s', ['one', 'two']), { clock })
  const [entry] = await readWindow(memory)
  await memory.write('short-term', 'session:s', { ...entry, summary: 'Mine.' }, { type: 'session-summary' })
  const other = [{ id: 'new', content: [text('another way')] }]
  await createCheckpoint(memory, conversation('s', other, { from: start + 60 * minute }), {
    clock: () => start + 61 * minute,
  })
  expect(await recoverWindow(memory)).toBe('s')
  expect(await readWindow(memory)).toMatchObject([{ summary: 'Mine.', messageCount: 3 }])
})

it('does nothing when there is nothing to recover or all was consumed', async () => {
  const memory = openMemory()
  expect(await recoverWindow(memory)).toBe(null)
  await archiveSession(memory, conversation('s', ['a', 'b']))
  expect(await recoverWindow(memory)).toBe(null)
  await consumeWindow(memory, { clear: true })
  expect(await recoverWindow(memory)).toBe(null)
  await expect(recoverWindow(memory, { maxEntries: 0 })).rejects.toMatchObject({
    code: 'MEMORY_INVALID_INPUT',
  })
})

it.each([
  [
    'with an offset that makes its text smaller',
    '2026-03-06T11:00:00.000Z',
    '2026-03-06T06:30:00-05:00',
    's',
  ],
  [
    'with an offset that makes its text greater',
    '2026-03-06T11:00:00.000Z',
    '2026-03-06T12:30:00+02:00',
    null,
  ],
  [
    'without a fraction of a second, at the same instant',
    '2026-03-06T11:00:00.000Z',
    '2026-03-06T11:00:00Z',
    null,
  ],
  ['without a fraction of a second, earlier', '2026-03-06T11:00:00.500Z', '2026-03-06T11:00:00Z', null],
  ['without a fraction of a second, later', '2026-03-06T11:00:00.500Z', '2026-03-06T11:00:01Z', 's'],
  ['with a fraction of a second, later', '2026-03-06T11:00:00Z', '2026-03-06T11:00:00.500Z', 's'],
])('compares instants where an archive is dated %s', async (_, known, date, recovered) => {
  const memory = openMemory()
  await createCheckpoint(memory, conversation('s', ['Fix the login', 'done']))
  const archive = await readArchive(memory, 's')
  await memory.write('episodic', conversationKey('s'), { ...archive, date }, { type: conversationType })
  const session = {
    sessionId: 'known',
    date: known,
    duration: '1m',
    messageCount: 2,
    summary: 'x',
    archive: 'x',
  }
  await addToWindow(memory, session, { maxEntries: 5 })
  expect(await recoverWindow(memory)).toBe(recovered)
})

it('finds the newest session among many of its day that were archived after it', async () => {
  const memory = openMemory()
  await createCheckpoint(memory, conversation('new', ['a', 'b'], { from: start + 60 * minute }))
  for (let n = 0; n < 30; n++)
    await createCheckpoint(memory, conversation(`old-${n}`, ['a', 'b'], { from: start - n * minute }))
  await archiveSession(memory, conversation('known', ['a', 'b'], { from: start + 10 * minute }))
  expect(await recoverWindow(memory)).toBe('new')
})

it('refuses an option that there is not', async () => {
  const misspelt = { max_entries: 2 } as object
  await expect(recoverWindow(openMemory(), misspelt)).rejects.toMatchObject({
    code: MemoryErrorCode.INVALID_INPUT,
    message: expect.stringContaining('"max_entries"'),
  })
})
