import { appendFileSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { layouts } from '@recall/store-file'
import { expect, it } from 'vitest'
import { takeArchivingLock } from '../src/hosts/lock-files.ts'
import { readNotes, saveNote } from '../src/hosts/session-notes.ts'
import { event, hooked } from './hooked-session.ts'
import { createShell, poolSession, writeSession } from './support.ts'

it('never forgets a session of which something is still to be archived', async () => {
  const shell = createShell()
  await shell.run('init')
  const place = { root: shell.root, layout: layouts.entity }
  const week = 8 * 24 * 3600_000
  const at = Date.parse('2026-03-06T12:00:00Z') - week
  const session = { host: 'claude', transcript: join(shell.root, 'gone for ever.jsonl'), at } as const
  saveNote(place, { ...session, sessionId: 'done', state: 'ended' })
  const damaged = join(shell.root, "somebody's garbage.jsonl")
  writeFileSync(damaged, 'no transcript\n')
  saveNote(place, {
    ...session,
    sessionId: 'given-up',
    transcript: damaged,
    state: 'ended',
    problem: { reason: 'no such thing', tries: 5 },
  })
  saveNote(place, {
    ...session,
    sessionId: 'told',
    state: 'open',
    summaries: [{ id: '1', text: 'zebra' }],
  })
  // Somebody else is at work on them.
  const lock = takeArchivingLock(place)
  const starting = {
    session_id: 'new',
    transcript_path: join(shell.root, 't.jsonl'),
    hook_event_name: 'SessionStart',
  }
  await shell.withInput(event(starting)).run('hook', 'session-start')
  expect(
    readNotes(place)
      .map(({ sessionId }) => sessionId)
      .sort(),
  ).toEqual(['given-up', 'new', 'told'])
  lock?.release()
  await shell.run('hook', 'drain')
  expect((await shell.run('search', 'zebra')).code).toBe(0)
  const { code, out } = await shell.run('doctor')
  expect(code).toBe(1)
  expect(out).toContain('session given-up was not archived: no such thing')
  expect(out).toContain(`recall archive '${damaged.replace("'", "'\\''")}'`)
})

it('archives what was said in a session that had been open for weeks before it was killed', async () => {
  const { shell, transcript, run } = await hooked()
  const place = { root: shell.root, layout: layouts.entity }
  const daysAgo = (days: number) => Date.parse('2026-03-06T12:00:00Z') - days * 24 * 3600_000
  const startOther = (session_id: string) => {
    const transcript_path = join(shell.root, `${session_id}.jsonl`)
    const starting = { session_id, transcript_path, hook_event_name: 'SessionStart' }
    return shell.withInput(event(starting)).run('hook', 'session-start')
  }
  const grow = (text: string, days: number) => {
    appendFileSync(transcript, `${JSON.stringify({ role: 'user', content: text })}\n`)
    utimesSync(transcript, daysAgo(days) / 1000, daysAgo(days) / 1000)
  }
  await run('session-start', 'SessionStart')
  const [note] = readNotes(place)
  if (note) saveNote(place, { ...note, at: daysAgo(50) })
  grow('The ostrich needs wings.', 29)
  await startOther('s2')
  grow('We decided on feathers.', 1)
  await startOther('s3')
  expect((await shell.run('search', 'feathers')).code).toBe(0)
})

it('is done with a session left open whose transcript has not changed for a month', async () => {
  const { shell, transcript, run } = await hooked()
  const place = { root: shell.root, layout: layouts.entity }
  const at = Date.parse('2026-03-06T12:00:00Z') - 31 * 24 * 3600_000
  saveNote(place, { sessionId: 'old', host: 'claude', transcript, at, state: 'open' })
  utimesSync(transcript, at / 1000, at / 1000)
  await run('session-start', 'SessionStart')
  expect(readNotes(place)).toMatchObject([{ sessionId: 's1' }])
})

it('is done with a session that a person had forgotten', async () => {
  const shell = createShell()
  await shell.run('init')
  const place = { root: shell.root, layout: layouts.entity }
  const transcript = writeSession(shell.root, 's1', poolSession)
  const at = Date.parse('2026-03-06T12:00:00Z') - 8 * 24 * 3600_000
  utimesSync(transcript, at / 1000, at / 1000)
  const problem = { reason: 'it was forgotten', tries: 1, isForgotten: true }
  saveNote(place, { sessionId: 's1', host: 'claude', transcript, at, state: 'ended', problem })
  await shell.run('hook', 'drain')
  expect((await shell.run('search', 'release')).code).toBe(1)
  expect((await shell.run('doctor')).code).toBe(0)
  const starting = { session_id: 's2', transcript_path: join(shell.root, 's2.jsonl'), hook_event_name: 'X' }
  await shell.withInput(event(starting)).run('hook', 'session-start')
  expect(readNotes(place)).toMatchObject([{ sessionId: 's2' }])
})

it('tries no session again that a person had forgotten', async () => {
  const { shell, run } = await hooked()
  await shell.run('archive', join(shell.root, 's1.jsonl'))
  await shell.run('forget', 'conversation:s1', '--yes')
  await run('session-end', 'SessionEnd')
  for (let i = 0; i < 2; i++) await shell.run('hook', 'drain')
  const problem = { reason: expect.stringContaining('was forgotten'), tries: 1, isForgotten: true }
  expect(readNotes({ root: shell.root, layout: layouts.entity })).toMatchObject([{ problem }])
})

it('tries a session once at a time, and gives none up for a folder that is away', async () => {
  const shell = createShell()
  await shell.run('archive', writeSession(shell.root, 's1', poolSession))
  const place = { root: shell.root, layout: layouts.entity }
  const archives = join(shell.root, 'memory/conversations')
  const end = async (id: string, transcript: string): Promise<void> => {
    utimesSync(transcript, 1_700_000_000, 1_700_000_000)
    const input = { session_id: id, transcript_path: transcript, hook_event_name: 'SessionEnd' }
    await shell.withInput(event(input)).run('hook', 'session-end')
  }
  const triesOf = (id: string) => readNotes(place).find((each) => each.sessionId === id)?.problem?.tries

  const garbage = join(shell.root, 'garbage.jsonl')
  writeFileSync(garbage, 'no transcript\n')
  await end('garbage', garbage)
  await shell.run('hook', 'drain')
  expect(triesOf('garbage')).toBe(1)

  renameSync(archives, `${archives}-away`)
  await end('s2', writeSession(shell.root, 's2', [{ role: 'user', text: 'oil the hinges' }]))
  for (let i = 0; i < 7; i++) await shell.run('hook', 'drain')
  expect(triesOf('garbage')).toBe(5)
  expect(triesOf('s2')).toBe(0)
  const starting = event({ session_id: 'n', hook_event_name: 'SessionStart', transcript_path: '/n' })
  expect((await shell.withInput(starting).run('hook', 'session-start')).out).toContain('Not archived')

  renameSync(`${archives}-away`, archives)
  await shell.run('hook', 'drain')
  expect((await shell.run('search', 'hinges')).code).toBe(0)
})

it.each([
  ['half a line', '{"role":"user","content":"buy the a'],
  ['space that its host reserved', '\0'.repeat(5000)],
])('waits for what is said in an open session whose transcript has only %s', async (_, beginning) => {
  const { shell, transcript, run } = await hooked()
  const startOther = async (session_id: string) => {
    const transcript_path = join(shell.root, `${session_id}.jsonl`)
    const starting = { session_id, transcript_path, hook_event_name: 'SessionStart' }
    return (await shell.withInput(event(starting)).run('hook', 'session-start')).out
  }
  writeFileSync(transcript, beginning)
  await run('session-start', 'SessionStart')
  expect(await startOther('s2')).toBe('')
  expect(readdirSync(join(shell.root, 'memory/conversations'))).toEqual([])
  writeSession(shell.root, 's1', [{ role: 'user', text: 'buy the avocets' }])
  await startOther('s3')
  expect((await shell.run('search', 'avocets')).code).toBe(0)
})

it('tries a session again that was given up once its transcript has changed', async () => {
  const { shell, transcript, run } = await hooked()
  const place = { root: shell.root, layout: layouts.entity }
  const tries = async () => {
    await shell.run('hook', 'drain')
    return readNotes(place)[0]?.problem?.tries
  }
  writeFileSync(transcript, 'no transcript\n')
  await run('session-end', 'SessionEnd')
  for (let i = 0; i < 6; i++) await tries()
  expect(await tries()).toBe(5)
  appendFileSync(transcript, 'nor is this\n')
  expect(await tries()).toBe(1)
  for (let i = 0; i < 5; i++) await tries()
  writeSession(shell.root, 's1', poolSession)
  expect(await tries()).toBeUndefined()
  expect((await shell.run('search', 'release')).code).toBe(0)
})
