import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it, vi } from 'vitest'
import { createShell, writeFiles } from './support.ts'

vi.mock('node:timers/promises', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  setTimeout: vi.fn(async () => {}),
}))

it('waits only once for a database that never rests, whose sessions are all archived', async () => {
  const shell = createShell()
  await shell.run('init')
  const path = join(shell.root, '.local/share/opencode/opencode.db')
  writeFiles(shell.root, { '.local/share/opencode/opencode.db': '' })
  const database = new DatabaseSync(path)
  database.exec(`
    CREATE TABLE session (id TEXT, parent_id TEXT, time_created INTEGER);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
    INSERT INTO session VALUES ('o1', NULL, 1), ('o2', NULL, 2), ('o3', NULL, 3);
    INSERT INTO message SELECT 'm-' || id, id, 1763600000000, '{"role":"user"}' FROM session;
    INSERT INTO part SELECT 'p-' || id, 'm-' || id, '{"type":"text","text":"ocelot of ' || id || '"}' FROM session;`)
  database.close()
  const soon = new Date(Date.now() + 3600_000)
  utimesSync(path, soon, soon)
  for (const session_id of ['o1', 'o2', 'o3']) {
    const input = JSON.stringify({ host: 'opencode', session_id, hook_event_name: 'SessionEnd' })
    await shell.withInput(input).run('hook', 'session-end')
  }
  vi.mocked(wait).mockClear()
  await shell.run('hook', 'drain')
  expect(vi.mocked(wait)).toHaveBeenCalledTimes(50)
  const { out } = await shell.run('search', 'ocelot')
  for (const id of ['o1', 'o2', 'o3']) expect(out).toContain(`ocelot of ${id}`)
})
