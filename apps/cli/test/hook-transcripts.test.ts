import { appendFileSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { layouts } from '@recall/store-file'
import { describe, expect, it, vi } from 'vitest'
import { readNotes } from '../src/hosts/session-notes.ts'
import { openOpencodeDatabase, sessionsOfOnePrompt } from './opencode-database.ts'
import { createShell, writeFiles } from './support.ts'

describe('hook, with a session of several transcripts or in a database', () => {
  const event = (fields: Record<string, unknown>): string => JSON.stringify(fields)

  /** A shell in whose home OpenCode has its database open. */
  function openDatabase(rows: string) {
    const shell = createShell()
    const { database } = openOpencodeDatabase(shell.root, rows)
    const end = async (session_id: string) => {
      const fields = { host: 'opencode', session_id, hook_event_name: 'SessionEnd' }
      await shell.withInput(event(fields)).run('hook', 'session-end')
      await shell.run('hook', 'drain')
    }
    const start = (session_id: string) =>
      shell.withInput(event({ host: 'opencode', session_id })).run('hook', 'session-start')
    const archives = () => readdirSync(join(shell.root, 'memory/conversations')).length
    return { shell, database, end, start, archives }
  }

  it('archives a session’s helpers with it, also where the host keeps them in the same database', async () => {
    const sessions = sessionsOfOnePrompt({ id: 'o1' }, { id: 'o2', parent: 'o1' }, { id: 'o3' })
    const { shell, end } = openDatabase(sessions)
    await shell.run('init')
    await end('o1')
    const { out } = await shell.run('search', 'ocelot')
    expect(out).toContain('ocelot of o1')
    expect(out).toContain('ocelot of o2')
    expect(out).not.toContain('ocelot of o3')
  })

  it('archives what a session went on with while the host has written it only to its database’s log', async () => {
    const { shell, database, end } = openDatabase(`
      INSERT INTO session (id, time_created) VALUES ('o1', 1);
      INSERT INTO message VALUES ('m1', 'o1', 1, '{"role":"user"}'), ('m2', 'o1', 2, '{"role":"user"}');
      INSERT INTO part VALUES ('p1', 'm1', '{"type":"text","text":"paint the ocelot"}');`)
    await shell.run('init')
    await end('o1')
    database.exec(`INSERT INTO part VALUES ('p2', 'm2', '{"type":"text","text":"and the lynx"}')`)
    await end('o1')
    expect((await shell.run('search', 'lynx')).out).toContain('and the lynx')
  })

  it('leaves a session alone while only others in its database go on', async () => {
    const sessions = sessionsOfOnePrompt({ id: 'o1' }, { id: 'o2' })
    const { shell, database, end, start, archives } = openDatabase(sessions)
    await shell.run('init')
    for (const id of ['o1', 'o2', 'o3']) await start(id)
    expect(archives()).toBe(2)
    // Archiving one of them again would bring its archive back.
    for (const name of [1, 2]) rmSync(join(shell.root, `memory/conversations/conversation-00${name}.md`))
    const say = (id: string) =>
      database.exec(`INSERT INTO part VALUES ('late', 'm-${id}', '{"type":"text","text":"and the lynx"}')`)
    say('o2')
    await end('o1')
    expect(archives()).toBe(0)
    await start('o4')
    expect(archives()).toBe(1)
    await start('o5')
    expect(archives()).toBe(1)
    expect((await shell.run('search', 'lynx')).code).toBe(0)
    say('o1')
    await start('o6')
    expect(archives()).toBe(2)
  })

  it('begins with the sessions that were never archived where there is no time for all', async () => {
    const ids = ['o1', 'o2', 'o3', 'o4', 'o5', 'o6']
    const { shell, database, start, archives } = openDatabase(
      sessionsOfOnePrompt(...ids.map((id) => ({ id }))),
    )
    await shell.run('init')
    for (const session_id of ids)
      await shell.withInput(event({ host: 'opencode', session_id })).run('hook', 'stop')
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
      now += 500
      return now
    })
    await start('o7')
    const first = archives()
    database.exec("INSERT INTO part SELECT 'late-' || id, message_id, data FROM part")
    await start('o8')
    clock.mockRestore()
    expect({ first: first > 0, second: archives() > first }).toEqual({ first: true, second: true })
    for (const argv of shell.detached) await shell.run(...argv)
    expect(archives()).toBe(6)
  })

  it.each([
    [
      'Cursor',
      { conversation_id: 's1', cursor_version: '3', workspace_roots: ['/home/dev/api'] },
      { role: 'user', message: { content: [{ type: 'text', text: 'paint the ocelot' }] } },
      '/home/dev/api',
    ],
    [
      'Gemini CLI, whose folder has no note of the project',
      { session_id: 's1', timestamp: 'x', cwd: '/home/dev/api' },
      { sessionId: 's1', projectHash: 'h', messages: [{ type: 'user', content: 'paint the ocelot' }] },
      '/home/dev/api',
    ],
    [
      'a host whose transcript names another one',
      { session_id: 's1', cwd: '/home/dev/api/src' },
      {
        type: 'user',
        uuid: 'u1',
        sessionId: 's1',
        cwd: '/home/dev/api',
        message: { role: 'user', content: 'paint' },
      },
      '/home/dev/api',
    ],
  ])('archives with a session the folder in which it worked: %s', async (_, payload, line, project) => {
    const shell = createShell()
    await shell.run('init')
    writeFiles(shell.root, { 's1.jsonl': `${JSON.stringify(line)}\n` })
    const fields = { ...payload, transcript_path: join(shell.root, 's1.jsonl') }
    for (const [name, hook_event_name] of [
      ['stop', 'Stop'],
      ['session-end', 'SessionEnd'],
    ] as const)
      await shell.withInput(event({ ...fields, hook_event_name })).run('hook', name)
    await shell.run('hook', 'drain')
    const archive = readFileSync(join(shell.root, 'memory/conversations/conversation-001.md'), 'utf8')
    expect(archive).toMatch(new RegExp(`^project: "?${project}"?$`, 'm'))
  })

  it('archives the other helpers of a session when one was forgotten, is damaged or has said nothing', async () => {
    const shell = createShell()
    await shell.run('init')
    const transcript_path = join(shell.root, 's1.jsonl')
    const say = (text: string, more: object = {}) => {
      const message = { role: 'user', content: text }
      return `${JSON.stringify({ type: 'user', uuid: text, sessionId: 's1', message, ...more })}\n`
    }
    const help = (agentId: string) => say(`helper ${agentId}`, { isSidechain: true, agentId })
    writeFiles(shell.root, {
      's1.jsonl': say('why does the pool leak?'),
      's1/subagents/agent-a.jsonl': help('a'),
      's1/subagents/agent-b.jsonl': '',
    })
    const end = async () => {
      const fields = { session_id: 's1', transcript_path, hook_event_name: 'SessionEnd' }
      await shell.withInput(event(fields)).run('hook', 'session-end')
      await shell.run('hook', 'drain')
      return (await shell.run('doctor')).out
    }
    expect(await end()).not.toContain('was not archived')
    await shell.run('forget', 'conversation:s1/a', '--yes')
    appendFileSync(transcript_path, say('and now?'))
    writeFiles(shell.root, { 's1/subagents/agent-c.jsonl': help('c') })
    expect(await end()).not.toContain('was not archived')
    const { out } = await shell.run('search', 'helper')
    expect(out).toContain('helper c')
    expect(out).not.toContain('helper a')
    writeFiles(shell.root, {
      's1/subagents/agent-b.jsonl': '{"broken',
      's1/subagents/agent-d.jsonl': help('d'),
    })
    appendFileSync(transcript_path, say('and then?'))
    await end()
    expect((await shell.run('search', 'helper')).out).toContain('helper d')
    expect(readNotes({ root: shell.root, layout: layouts.entity })).toMatchObject([
      { problem: { tries: 1, reason: expect.stringContaining('agent-b.jsonl') } },
    ])
  })
})
