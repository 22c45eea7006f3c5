import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { layouts } from '@recall/store-file'
import { describe, expect, it } from 'vitest'
import { hookEvents } from '../src/hosts/hook-events.ts'
import { readNotes } from '../src/hosts/session-notes.ts'
import { quoted } from '../src/terminal/format.ts'
import { createShell, poolSession, temporaryFolder, writeFiles, writeSession } from './support.ts'

describe('hook', () => {
  const event = (fields: Record<string, unknown>): string => JSON.stringify(fields)

  it('is silent and fine whatever goes wrong', async () => {
    const shell = createShell()
    for (const input of ['', 'not json', '[]', '{}', event({ session_id: 5 })]) {
      for (const name of [...hookEvents.filter((each) => each !== 'drain'), 'unknown']) {
        expect(await shell.withInput(input).run('hook', name)).toMatchObject({ code: 0, out: '' })
      }
    }
    const missing = { session_id: 'a', transcript_path: '/nowhere/t.jsonl', hook_event_name: 'SessionEnd' }
    expect(await shell.withInput(event(missing)).run('hook', 'session-end')).toMatchObject({
      code: 0,
      out: '',
    })
    expect(await shell.run('hook', 'drain')).toMatchObject({ code: 0, out: '' })
    // Settings of a newer version, read by an older program.
    for (const option of ['--newer', '--layout=foo'])
      expect(await shell.withInput('').run('hook', 'pre-compact', option)).toMatchObject({ code: 0, out: '' })
  })

  it('answers a host that wants JSON with JSON, whatever goes wrong', async () => {
    const shell = createShell()
    const cursor = event({ conversation_id: 'b', cursor_version: '3', transcript_path: '/t.jsonl' })
    for (const name of hookEvents.filter((each) => each !== 'drain')) {
      const gone = await shell.withInput(cursor).run('hook', name, '--root', join(shell.root, 'gone'))
      expect(gone, name).toMatchObject({ code: 0, out: '{}\n' })
    }
    await shell.run('init', '--layout', 'entity')
    writeFileSync(join(shell.root, 'memory/.recall'), 'a file where a folder should be')
    const broken = await shell.withInput(cursor).run('hook', 'stop')
    expect(broken).toMatchObject({ code: 0, out: '{}\n', err: expect.stringContaining('recall: ') })
  })

  it('tells a session what is known where nothing can be noted', async () => {
    const shell = createShell()
    await shell.run('init', '--layout', 'entity')
    await shell.run('archive', writeSession(shell.root, 's1', poolSession))
    writeFileSync(join(shell.root, 'memory/.recall/sessions'), 'a file where a folder should be')
    const starting = event({ session_id: 's2', hook_event_name: 'SessionStart', transcript_path: '/t.jsonl' })
    const { out, err } = await shell.withInput(starting).run('hook', 'session-start')
    expect(out).toContain('<recalled-memory ')
    expect(err).toContain(
      'memory/.recall/sessions cannot be read (ENOTDIR): see that it is a folder, and that this user may read there',
    )
  })

  it('says what to run for a session that begins and ends while nothing can be noted', async () => {
    const shell = createShell()
    await shell.run('init', '--layout', 'entity')
    const sessions = join(shell.root, 'memory/.recall/sessions')
    writeFiles(shell.root, { 'memory/.recall/sessions': 'a file where a folder should be' })
    const transcript_path = writeSession(shell.root, 's1', poolSession)
    const fire = (name: string, hook_event_name: string) =>
      shell.withInput(event({ session_id: 's1', transcript_path, hook_event_name })).run('hook', name)
    const { out } = await fire('session-start', 'SessionStart')
    expect(JSON.parse(out).systemMessage).toMatch(
      /^Recall: .*\. Once that is mended, 'recall import' archives the sessions that ended meanwhile$/,
    )
    const { err } = await fire('session-end', 'SessionEnd')
    expect(err).toContain(`. When that is mended, run: recall import ${quoted(transcript_path)}\n`)
    rmSync(sessions)
    expect((await shell.run('import', transcript_path)).code).toBe(0)
    expect((await shell.run('search', 'release')).code).toBe(0)
  })

  it('notes a session that starts while earlier ones cannot be archived', async () => {
    const shell = createShell()
    await shell.run('init', '--layout', 'entity')
    const fire = (session_id: string, name: string, hook_event_name: string) => {
      const transcript_path = writeSession(shell.root, session_id, poolSession)
      return shell.withInput(event({ session_id, transcript_path, hook_event_name })).run('hook', name)
    }
    await fire('s1', 'session-end', 'SessionEnd')
    mkdirSync(join(shell.root, 'memory/.recall/archiving.lock'), { recursive: true })
    expect((await fire('s2', 'session-start', 'SessionStart')).err).toContain('EISDIR')
    const noted = readNotes({ root: shell.root, layout: layouts.entity }).map(({ sessionId }) => sessionId)
    expect(noted.sort()).toEqual(['s1', 's2'])
  })

  it('writes nothing when nothing is new, so that a full disk does not matter', async () => {
    const shell = createShell()
    await shell.run('init')
    const going = { session_id: 's1', hook_event_name: 'Stop', transcript_path: '/t.jsonl' }
    const stop = () => shell.withInput(event(going)).run('hook', 'stop')
    expect(await stop()).toMatchObject({ code: 0, err: '' })
    mkdirSync(join(shell.root, 'memory/.recall/lock-sessions'))
    expect(await stop()).toMatchObject({ code: 0, err: '' })
    const ended = event({ ...going, hook_event_name: 'SessionEnd' })
    expect((await shell.withInput(ended).run('hook', 'session-end')).err).toContain('EISDIR')
  })

  it('makes no memory for what is no session, nor archives at an event that it does not know', async () => {
    const shell = createShell(temporaryFolder(), null, {})
    for (const input of ['', '{}', 'not json']) await shell.withInput(input).run('hook', 'session-start')
    const session = event({ session_id: 'a', hook_event_name: 'SessionEnd' })
    const unknown = await shell.withInput(session).run('hook', 'sesion-end')
    expect(unknown).toMatchObject({ code: 0, out: '' })
    expect(unknown.err).toContain("there is no event 'sesion-end': session-start, turn-start")
    expect(existsSync(join(shell.root, '.recall'))).toBe(false)
  })

  it('makes no memory where there is none', async () => {
    const shell = createShell()
    const root = join(shell.root, 'gone')
    const input = event({ session_id: 'a', transcript_path: 'x', hook_event_name: 'SessionEnd' })
    await shell.withInput(input).run('hook', 'session-end', '--root', root)
    expect(existsSync(root)).toBe(false)
  })

  it.each([
    [
      'claude',
      { session_id: 'b', hook_event_name: 'SessionStart', source: 'startup', transcript_path: '/t.jsonl' },
      'hookSpecificOutput',
    ],
    [
      'codex',
      { session_id: 'b', turn_id: 't', hook_event_name: 'SessionStart', transcript_path: '/rollout-1.jsonl' },
      'hookSpecificOutput',
    ],
    [
      'cursor',
      { conversation_id: 'b', cursor_version: '3', hook_event_name: 'sessionStart' },
      'additional_context',
    ],
    [
      'gemini',
      { session_id: 'b', timestamp: 'x', hook_event_name: 'BeforeAgent', transcript_path: '/t.jsonl' },
      'hookSpecificOutput',
    ],
    ['copilot', { sessionId: 'b', timestamp: 1, cwd: '/' }, 'additionalContext'],
  ])('gives %s the context in its own form, within its limit', async (host, payload, member) => {
    const shell = createShell()
    await shell.run('init')
    for (let i = 0; i < 5; i++) {
      const turns = [{ role: 'user' as const, text: `${'word '.repeat(900)} <tag> ${i}` }, ...poolSession]
      await shell.run('archive', writeSession(shell.root, `s${i}`, turns, `2026-03-0${i + 1}`))
    }
    writeFileSync(
      join(shell.root, 'memory/MEMORY.md'),
      `# Memory\n\n${'- a fact that is worth keeping\n'.repeat(600)}`,
    )
    const name = host === 'gemini' ? 'turn-start' : 'session-start'
    const { out } = await shell.withInput(event(payload)).run('hook', name)
    const printed = JSON.parse(out) as Record<string, unknown>
    const inner =
      (printed[member] as { additionalContext?: string }).additionalContext ?? (printed[member] as string)
    expect(inner).toMatch(/^<recalled-memory /)
    expect(inner).toContain('s4')
    expect(inner.length).toBeLessThanOrEqual(host === 'codex' ? 7000 : 10_000)
    const isShown = ['claude', 'codex'].includes(host)
    expect(Object.keys(printed).sort()).toEqual(isShown ? [member, 'systemMessage'] : [member])
  })

  it('remembers what the host said when it compacted, once, without secrets and without memory', async () => {
    const shell = createShell()
    await shell.run('init')
    const token = `ghp_${'a1B2'.repeat(9)}`
    const input = event({
      session_id: 'c',
      transcript_path: join(shell.root, 't.jsonl'),
      hook_event_name: 'PostCompact',
      trigger: 'auto',
      compact_summary: `The zebra pool was drained with ${token}.\n<recalled-memory source="x" note="y">\nold\n</recalled-memory>`,
    })
    for (let i = 0; i < 3; i++) {
      expect((await shell.withInput(input).run('hook', 'post-compact')).out).toBe('')
      await shell.run('hook', 'drain')
    }
    const { results } = await shell.json<{ results: { key: string; snippet: string }[] }>(
      'search',
      'zebra',
      'pool',
    )
    expect(results).toHaveLength(1)
    const everything = JSON.stringify(await shell.run('export'))
    expect(everything).not.toContain(token)
    expect(everything).not.toContain('old\\n')
  })

  it('remembers nothing of what the host said of a session that was forgotten', async () => {
    const shell = createShell()
    await shell.run('init')
    const transcript_path = writeSession(shell.root, 's1', poolSession)
    const compact = async (compact_summary: string) => {
      const fields = { session_id: 's1', transcript_path, hook_event_name: 'PostCompact', compact_summary }
      await shell.withInput(event(fields)).run('hook', 'post-compact')
      await shell.run('hook', 'drain')
    }
    await compact('The zebra pool was drained.')
    expect((await shell.run('search', 'zebra')).code).toBe(0)
    await shell.run('forget', 'conversation:s1', '--yes')
    await compact('The zebra pool was drained.')
    await compact('The zebra pool was filled again.')
    expect((await shell.run('search', 'zebra')).code).toBe(1)
    const noted = readdirSync(join(shell.root, 'memory/.recall/sessions'))
    const notes = noted.map((name) => readFileSync(join(shell.root, 'memory/.recall/sessions', name), 'utf8'))
    expect(notes.join('')).not.toContain('zebra')
  })

  it('keeps what the host said until it can be stored', async () => {
    const shell = createShell()
    await shell.run('init')
    const inTheWay = join(shell.root, 'memory/episodic')
    writeFileSync(inTheWay, 'a file where a folder should be')
    const transcript_path = writeSession(shell.root, 's1', poolSession)
    const fields = { session_id: 's1', transcript_path, hook_event_name: 'PostCompact' }
    await shell
      .withInput(event({ ...fields, compact_summary: 'The zebra pool was drained.' }))
      .run('hook', 'post-compact')
    await shell.run('hook', 'drain')
    rmSync(inTheWay)
    await shell.run('hook', 'drain')
    expect((await shell.run('search', 'zebra')).code).toBe(0)
    expect(readNotes({ root: shell.root, layout: layouts.entity })[0]?.summaries).toBeUndefined()
  })

  it.each([
    ['nothing', {}],
    ['a summary', { compact_summary: 'The zebra pool was drained.' }],
  ])('tries a checkpoint that failed again, as a checkpoint, where the host told %s', async (_, told) => {
    const shell = createShell()
    await shell.run('init')
    const archives = join(shell.root, 'memory/conversations')
    renameSync(archives, `${archives}-away`)
    writeFileSync(archives, 'a file where a folder should be')
    const transcript_path = writeSession(shell.root, 's1', poolSession)
    const compacted = { session_id: 's1', transcript_path, hook_event_name: 'PostCompact', ...told }
    await shell.withInput(event(compacted)).run('hook', 'post-compact')
    await shell.run('hook', 'drain')
    rmSync(archives)
    renameSync(`${archives}-away`, archives)
    await shell.run('hook', 'drain')
    expect(readFileSync(join(archives, 'conversation-001.md'), 'utf8')).toContain('source: "checkpoint"')
    expect((await shell.run('consume')).out).toBe('The window is empty.\n')
  })

  it('goes on beside the damaged file of a session, which the doctor names', async () => {
    const shell = createShell()
    await shell.run('init')
    const damaged = `memory/.recall/sessions/${'a'.repeat(24)}.json`
    writeFiles(shell.root, { [damaged]: '{"sessionId":' })
    const fields = { session_id: 's1', transcript_path: writeSession(shell.root, 's1', poolSession) }
    await shell.withInput(event({ ...fields, hook_event_name: 'SessionEnd' })).run('hook', 'session-end')
    await shell.run('hook', 'drain')
    expect((await shell.run('consume')).out).toContain('Session s1')
    const { code, out } = await shell.run('doctor')
    expect([code, out]).toEqual([1, expect.stringContaining(`${damaged} is damaged`)])
    rmSync(join(shell.root, damaged))
    expect((await shell.run('doctor')).code).toBe(0)
  })
})
