import type { MemoryManager } from '@recall/core'
import { expect, it } from 'vitest'
import {
  clock,
  conversation,
  fakeLm,
  lmAnswer,
  minute,
  openMemory,
  start,
  talk,
  text,
} from '../../test/support.ts'
import { archiveSession, createCheckpoint } from './archive-session.ts'
import { consumeWindow } from './consume-window.ts'
import { readWindow } from './window.ts'

it('enters no session in the window in which nobody said more than commands', async () => {
  const memory = openMemory()
  const silent = await archiveSession(memory, conversation('silent', ['/clear']), { clock })
  expect(silent).toMatchObject({ status: 'archived', window: 'skipped' })
  const cleared = conversation('cleared', ['/clear', { role: 'user', content: [text('Fix the login')] }])
  expect((await archiveSession(memory, cleared, { clock })).window).toBe('added')
  expect(await readWindow(memory)).toMatchObject([{ sessionId: 'cleared', summary: 'Fix the login' }])
})

it('says in the window which project a session worked in', async () => {
  const memory = openMemory()
  const facts = { skipped: {}, project: '/home/ana/shop\napi' }
  await archiveSession(memory, conversation('s', ['Fix the login', 'done'], { facts }), { clock })
  expect(await readWindow(memory)).toMatchObject([{ project: '/home/ana/shop api' }])
  expect((await consumeWindow(memory)).text).toContain(
    '**Archive**: conversation:s · **Project**: /home/ana/shop api\n',
  )
})

/** With a session of two messages, whose summary a person changed. */
const editedWindow = async (): Promise<MemoryManager> => {
  const memory = openMemory()
  await archiveSession(memory, conversation('s', talk.slice(0, 2)))
  const [entry] = await readWindow(memory)
  await memory.write('short-term', 'session:s', { ...entry, summary: 'Mine.' }, { type: 'session-summary' })
  return memory
}

it('keeps the words of a person, when nothing new was said and when the session grew', async () => {
  const memory = openMemory()
  const mine = 'My own words.'
  await archiveSession(memory, conversation('s', talk.slice(0, 2)))
  const [entry] = await readWindow(memory)
  await memory.write('short-term', 'session:s', { ...entry, summary: mine }, { type: 'session-summary' })
  expect((await archiveSession(memory, conversation('s', talk.slice(0, 2)))).window).toBe('present')
  expect(await readWindow(memory)).toMatchObject([{ summary: mine }])
  expect((await archiveSession(memory, conversation('s', talk))).window).toBe('updated')
  expect(await readWindow(memory)).toMatchObject([{ summary: mine, messageCount: 3 }])
})

it('keeps the words of a person when the session grew by a part', async () => {
  const memory = openMemory()
  await archiveSession(memory, conversation('s', talk.slice(0, 2)), { partSize: 90 })
  const [entry] = await readWindow(memory)
  await memory.write('short-term', 'session:s', { ...entry, summary: 'Mine.' }, { type: 'session-summary' })
  const grown = await archiveSession(memory, conversation('s', talk), { partSize: 90 })
  expect(grown.parts.map(({ status }) => status)).toEqual(['unchanged', 'created'])
  expect(await readWindow(memory)).toMatchObject([{ summary: 'Mine.', messageCount: 3 }])
})

it('keeps the words of a person when the last part of the session grew', async () => {
  const partSize = 90
  const longer = conversation('s', [...talk, 'bye'])
  const memory = openMemory()
  await archiveSession(memory, conversation('s', talk), { partSize })
  const [entry] = await readWindow(memory)
  await memory.write('short-term', 'session:s', { ...entry, summary: 'Mine.' }, { type: 'session-summary' })
  const grown = await archiveSession(memory, longer, { partSize })
  expect(grown.parts.map(({ status }) => status)).toEqual(['unchanged', 'replaced'])
  expect(await readWindow(memory)).toMatchObject([{ summary: 'Mine.', messageCount: 4 }])
})

it('keeps the words that a person wrote after a checkpoint of a session that had ended before', async () => {
  const memory = openMemory()
  await archiveSession(memory, conversation('s', talk.slice(0, 2)))
  await createCheckpoint(memory, conversation('s', talk))
  const [entry] = await readWindow(memory)
  await memory.write('short-term', 'session:s', { ...entry, summary: 'Mine.' }, { type: 'session-summary' })
  expect((await archiveSession(memory, conversation('s', [...talk, 'bye']))).window).toBe('updated')
  expect(await readWindow(memory)).toMatchObject([{ summary: 'Mine.', messageCount: 4 }])
  expect(await memory.read('episodic', 'conversation:s')).not.toHaveProperty('windowSummary')
})

it('takes no summary for the words of a person because a checkpoint came between', async () => {
  const memory = openMemory()
  await archiveSession(memory, conversation('s', talk.slice(0, 2)))
  const [before] = await readWindow(memory)
  await createCheckpoint(memory, conversation('s', talk))
  await createCheckpoint(memory, conversation('s', [...talk, 'bye']))
  await archiveSession(memory, conversation('s', [...talk, 'bye', 'see you']))
  const [after] = await readWindow(memory)
  expect(after).toMatchObject({ messageCount: 5 })
  expect(after?.summary).not.toBe(before?.summary)
  expect(await memory.search('episodic', { tags: ['window'] })).toEqual([])
})

it('makes an episode of the words of a person when a checkpoint of the session replaces its last part', async () => {
  const partSize = 90
  const memory = openMemory()
  await archiveSession(memory, conversation('s', talk), { partSize })
  const [entry] = await readWindow(memory)
  await memory.write('short-term', 'session:s', { ...entry, summary: 'Mine.' }, { type: 'session-summary' })
  await createCheckpoint(memory, conversation('s', [...talk, 'bye']), { partSize })
  const episodes = await memory.search<string>('episodic', { tags: ['window'] })
  expect(episodes.map(({ value }) => value)).toEqual([expect.stringMatching(/\nMine\.$/)])
})

it('makes no episode of the words of a person while they stand in the window', async () => {
  const memory = await editedWindow()
  await createCheckpoint(memory, conversation('s', talk.slice(0, 2)))
  expect(await memory.search('episodic', { tags: ['window'] })).toEqual([])
})

it('keeps the words of a person when the session goes on without messages that it had', async () => {
  const memory = await editedWindow()
  const next = { from: start + 60 * minute }
  const shorter = conversation('s', [{ id: 'new', content: [text('Another way')] }], next)
  expect(await archiveSession(memory, shorter)).toMatchObject({
    kept: ['conversation:s'],
    window: 'updated',
  })
  expect(await readWindow(memory)).toMatchObject([{ summary: 'Mine.', messageCount: 1 }])
})

it('keeps the words of a person also where the crash of an archiver came before its entry', async () => {
  const memory = await editedWindow()
  const next = { from: start + 60 * minute }
  const shorter = () => conversation('s', [{ id: 'new', content: [text('Another way')] }], next)
  await archiveSession(memory, shorter(), { inWindow: false })
  expect(await archiveSession(memory, shorter())).toMatchObject({ status: 'unchanged', window: 'updated' })
  expect(await readWindow(memory)).toMatchObject([{ summary: 'Mine.', messageCount: 1 }])
})

it.each<[what: string, leave: (memory: MemoryManager) => Promise<unknown>]>([
  ['is consumed', (memory) => consumeWindow(memory, { clear: true, clock })],
  [
    'is full',
    (memory) =>
      archiveSession(memory, conversation('t', talk, { from: start + 60 * minute }), { maxEntries: 1 }),
  ],
  [
    'goes on after a checkpoint',
    async (memory) => {
      await createCheckpoint(memory, conversation('s', talk))
      await archiveSession(memory, conversation('s', [...talk, 'bye']))
    },
  ],
])('makes an episode of the words of a person when it %s', async (_, leave) => {
  const memory = await editedWindow()
  await leave(memory)
  expect((await readWindow(memory)).map(({ summary }) => summary)).not.toContain('Mine.')
  const [episode, ...more] = await memory.search<string>('episodic', { tags: ['window'] })
  expect(more).toEqual([])
  expect(episode).toMatchObject({
    key: expect.stringMatching(/^edited-summary:s:/),
    metadata: { type: 'note' },
  })
  expect(episode?.value).toMatch(/^## Session s — /)
  expect(episode?.value).toMatch(/\nMine\.$/)
})

it('makes an episode of a summary that no archive holds, when it leaves the window', async () => {
  const memory = openMemory()
  await archiveSession(memory, conversation('s', talk))
  await memory.delete('episodic', 'conversation:s')
  await consumeWindow(memory, { clear: true, clock })
  const [episode] = await memory.search<string>('episodic', { tags: ['window'] })
  expect(episode?.value).toContain(`\n\n${talk[0]}`)
})

it('makes no episode of what an archive says, in one part or several', async () => {
  for (const partSize of [1, 1000]) {
    const memory = openMemory()
    await archiveSession(memory, conversation('s', talk), { partSize })
    await createCheckpoint(memory, conversation('s', [...talk, 'bye']), { partSize })
    await consumeWindow(memory, { clear: true, clock })
    expect(await memory.search('episodic', { tags: ['window'] })).toEqual([])
  }
})

it('takes a session that ends with a part of mere commands', async () => {
  const memory = openMemory()
  const session = conversation('s', ['Fix the login', { role: 'user', content: [text('/clear')] }])
  expect(await archiveSession(memory, session, { partSize: 1 })).toMatchObject({ window: 'added' })
})

it('tells what a session says since a checkpoint of it', async () => {
  const memory = openMemory()
  const lm = (summary: string) => ({ lm: fakeLm(lmAnswer(summary)) })
  await archiveSession(memory, conversation('s', talk.slice(0, 1)), lm('Fixed one'))
  await createCheckpoint(memory, conversation('s', talk.slice(0, 2)), lm('Fixed two'))
  await archiveSession(memory, conversation('s', talk), lm('Fixed three'))
  expect((await readWindow(memory))[0]?.summary).toContain('Fixed three')
})

it('takes no checkpoints and no helpers', async () => {
  const memory = openMemory()
  await createCheckpoint(memory, conversation('s', talk))
  await archiveSession(memory, conversation('s/helper', talk, { parent: 's' }))
  expect(await readWindow(memory)).toEqual([])
})

it('takes no session that is archived without it, which has ended all the same', async () => {
  const memory = openMemory()
  expect(await archiveSession(memory, conversation('s', talk), { inWindow: false })).toMatchObject({
    status: 'archived',
    window: 'skipped',
  })
  expect(await memory.read('episodic', 'conversation:s')).toMatchObject({ source: 'session' })
  expect(await readWindow(memory)).toEqual([])
})

it('gets back an entry that a crash kept from being written', async () => {
  const memory = openMemory()
  await archiveSession(memory, conversation('s', talk))
  await memory.delete('short-term', 'session:s')
  expect(await archiveSession(memory, conversation('s', talk))).toMatchObject({
    status: 'unchanged',
    window: 'added',
  })
  expect(await readWindow(memory)).toMatchObject([
    {
      sessionId: 's',
      date: '2026-03-06T10:02:00.000Z',
      duration: '2m',
      messageCount: 3,
      archive: 'conversation:s',
    },
  ])
})
