import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { layouts } from '@recall/store-file'
import { expect, it } from 'vitest'
import { readNotes, saveNote, stampOf } from '../src/hosts/session-notes.ts'
import { openOpencodeDatabase, sessionsOfOnePrompt } from './opencode-database.ts'
import { createShell, poolSession, writeFiles, writeSession } from './support.ts'

/** A memory in which a session was given up, whose transcript is damaged. */
async function givenUp(
  name = 'sessions/s1.jsonl',
  more: { summaries?: { id: string; text: string }[] } = {},
) {
  const shell = createShell()
  await shell.run('init')
  const transcript = join(shell.root, name)
  writeFiles(shell.root, { 'sessions/s1.jsonl': 'no transcript\n' })
  const place = { root: shell.root, layout: layouts.entity }
  const problem = { reason: 'it is damaged', tries: 5, seen: stampOf(transcript) ?? undefined }
  saveNote(place, {
    sessionId: 's1',
    host: 'claude',
    transcript,
    at: Date.parse('2026-03-06T11:00:00Z'),
    state: 'ended',
    problem,
    ...more,
  })
  const examine = async (...options: string[]) => {
    const { code, out } = await shell.run('doctor', ...options)
    return { code, finding: out.split('\n').find((line) => line.includes('session s1 was not archived')) }
  }
  return { shell, transcript, examine, notes: () => readNotes(place) }
}

it('is satisfied when a person has archived the transcript of a session that was given up', async () => {
  const { shell, transcript, examine, notes } = await givenUp()
  expect(await examine()).toMatchObject({ code: 1 })
  expect((await shell.run('archive', transcript)).code).not.toBe(0)
  expect(await examine()).toMatchObject({ code: 1 })
  writeSession(join(shell.root, 'sessions'), 's1', poolSession)
  await shell.run('checkpoint', transcript)
  expect(await examine()).toMatchObject({ code: 1 })
  await shell.run('archive', 'sessions/s1.jsonl')
  expect(await examine()).toEqual({ code: 0, finding: undefined })
  expect(notes()).toMatchObject([{ saved: 'session', done: expect.any(String) }])
})

it('is satisfied when a person has archived a session that was given up from another file', async () => {
  const { shell, examine } = await givenUp()
  await shell.run('archive', writeSession(shell.root, 's1', poolSession))
  await shell.run('hook', 'drain')
  expect(await examine()).toEqual({ code: 0, finding: undefined })
})

it('still names a session that was given up when one of its helpers cannot be archived', async () => {
  const { shell, transcript, examine } = await givenUp()
  const message = { role: 'user', content: 'why does the pool leak?' }
  const said = (more: object) => `${JSON.stringify({ type: 'user', sessionId: 's1', message, ...more })}\n`
  writeFiles(shell.root, {
    'sessions/s1.jsonl': said({ uuid: 'a' }),
    'sessions/s1/subagents/agent-b.jsonl': '{"broken',
  })
  await shell.run('archive', transcript)
  expect(await examine()).toMatchObject({ code: 1 })
  rmSync(join(shell.root, 'sessions/s1/subagents/agent-b.jsonl'))
  await shell.run('archive', transcript)
  expect(await examine()).toMatchObject({ code: 0 })
})

it('forgets with --fix that a session was given up once its transcript is gone', async () => {
  const { transcript, examine, notes } = await givenUp()
  await examine('--fix')
  expect(notes()).toHaveLength(1)
  rmSync(transcript)
  expect(await examine()).toEqual({ code: 1, finding: expect.stringMatching(/^wrong {3}transcripts gone: /) })
  expect(await examine('--fix')).toEqual({
    code: 0,
    finding: expect.stringMatching(/^mended {2}transcripts gone: /),
  })
  expect(await examine()).toEqual({ code: 0, finding: undefined })
  expect(notes()).toEqual([])
})

it('forgets no session with --fix while the folder of its transcript is away, or a summary is left', async () => {
  const away = await givenUp()
  renameSync(join(away.shell.root, 'sessions'), join(away.shell.root, 'elsewhere'))
  const told = await givenUp('sessions/s1.jsonl', { summaries: [{ id: '1', text: 'zebra' }] })
  rmSync(told.transcript)
  for (const { examine, notes } of [away, told]) {
    expect(await examine('--fix')).toMatchObject({ code: 1 })
    expect(notes()).toHaveLength(1)
  }
})

it('forgets with --fix a session that its database does not have any more, and only then', async () => {
  const { shell, examine, notes } = await givenUp('.local/share/opencode/opencode.db#s1')
  writeFiles(shell.root, { '.local/share/opencode/opencode.db': 'no database' })
  await examine('--fix')
  expect(notes()).toHaveLength(1)
  const { database } = openOpencodeDatabase(shell.root, sessionsOfOnePrompt({ id: 's1' }))
  await examine('--fix')
  expect(notes()).toHaveLength(1)
  database.exec('DELETE FROM session')
  await examine('--fix')
  expect(notes()).toEqual([])
})

it('names apart what was not archived and notes that are damaged', async () => {
  const { shell } = await givenUp()
  writeFiles(shell.root, { [`memory/.recall/sessions/${'0'.repeat(24)}.json`]: 'no note' })
  const { findings } = await shell.json<{ findings: { check: string; ok: boolean }[] }>('doctor')
  const wrong = findings.flatMap(({ check, ok }) => (ok ? [] : [check]))
  expect(wrong).toEqual(['sessions not archived', 'session notes'])
})
