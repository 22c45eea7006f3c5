import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openOpencodeDatabase, sessionsOfOnePrompt } from './opencode-database.ts'
import { createShell, poolSession, writeSession } from './support.ts'

it('waits only once for a database that never rests, whose sessions are all archived', async () => {
  const shell = createShell()
  await shell.run('init')
  const sessions = sessionsOfOnePrompt({ id: 'o1' }, { id: 'o2' }, { id: 'o3' })
  const { path } = openOpencodeDatabase(shell.root, sessions)
  const soon = new Date(Date.now() + 3600_000)
  utimesSync(path, soon, soon)
  for (const session_id of ['o1', 'o2', 'o3']) {
    const input = JSON.stringify({ host: 'opencode', session_id, hook_event_name: 'SessionEnd' })
    await shell.withInput(input).run('hook', 'session-end')
  }
  await shell.run('hook', 'drain')
  expect(shell.pauses).toEqual(Array(50).fill(100))
  const { out } = await shell.run('search', 'ocelot')
  for (const id of ['o1', 'o2', 'o3']) expect(out).toContain(`ocelot of ${id}`)
})

it('lets no starting session wait for the last lines of another', async () => {
  const shell = createShell()
  await shell.run('init')
  const eventOf = (session_id: string, hook_event_name: string) => {
    const transcript_path = join(shell.root, `${session_id}.jsonl`)
    return shell.withInput(JSON.stringify({ session_id, transcript_path, hook_event_name }))
  }
  const soon = new Date(Date.now() + 3600_000)
  utimesSync(writeSession(shell.root, 's1', poolSession), soon, soon)
  await eventOf('s1', 'SessionEnd').run('hook', 'session-end')
  const { out } = await eventOf('s2', 'SessionStart').run('hook', 'session-start')
  expect(out).toContain('Session s1')
  expect(shell.pauses).toEqual([])
})
