import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseHookInput, sessionSources, transcriptOf } from '../src/index.ts'
import { temporaryFolder } from './support.ts'

it('reads what a hook is handed also behind a byte order mark', () => {
  expect(parseHookInput('\uFEFF{"session_id":"s","hook_event_name":"Stop"}')).toMatchObject({
    host: 'claude',
    sessionId: 's',
  })
})

it('takes for a prompt only what was typed: Gemini CLI puts before it what hooks said when the session began', () => {
  const told =
    '<hook_context>&lt;recalled-memory&gt;\n# The last sessions\n&lt;/recalled-memory&gt;</hook_context>'
  const payload = { session_id: 's', hook_event_name: 'BeforeAgent', timestamp: 't' }
  const promptOf = (prompt: string, more = {}) =>
    parseHookInput(JSON.stringify({ ...payload, prompt, ...more }))?.prompt
  expect(promptOf(`${told}\n\nwhere is the pool?`)).toBe('where is the pool?')
  expect(promptOf(`${told}\n\n${told}\n\nwhere is the pool?`)).toBe('where is the pool?')
  expect(promptOf('what is a <hook_context>?')).toBe('what is a <hook_context>?')
  expect(promptOf(`${told} typed`, { timestamp: undefined })).toBe(`${told} typed`)
})

it('finds the transcript where a host does not name it, and nowhere else', () => {
  const machine = { home: '/home/ana', env: {} }
  const find = (payload: object): string | undefined => {
    const input = parseHookInput(JSON.stringify(payload))
    return input === null ? undefined : transcriptOf(input, machine)
  }
  expect(find({ sessionId: 'p1' })).toBe('/home/ana/.copilot/session-state/p1/events.jsonl')
  expect(find({ sessionId: '../../etc' })).toBeUndefined()
  expect(find({ sessionId: '..' })).toBeUndefined()
  expect(find({ session_id: 's', transcript_path: null, turn_id: 't' })).toBeUndefined()
})

it.each([
  ['where is the pool?', 'where is the pool?'],
  ['<system-reminder>x</system-reminder>where is the pool?', 'where is the pool?'],
  ['<task-notification><summary>Done.</summary></task-notification>', ''],
  ['Another Claude session sent a message:\n<agent-message from="a">The pool leaks.</agent-message>', ''],
])('takes for a prompt of Claude Code what a person typed of %j', (prompt, typed) => {
  const payload = { session_id: 's', hook_event_name: 'UserPromptSubmit', prompt }
  expect(parseHookInput(JSON.stringify(payload))).toMatchObject({ host: 'claude', prompt: typed })
})

it('takes for a prompt of Codex the request, without the files that are open', () => {
  const prompt =
    '# Context from my IDE setup:\n\n## Active file: a.ts\n\n## My request for Codex:\nwhere is it?'
  const payload = { session_id: 's', turn_id: 't', hook_event_name: 'UserPromptSubmit', prompt }
  expect(parseHookInput(JSON.stringify(payload))).toMatchObject({ host: 'codex', prompt: 'where is it?' })
})

it('finds a session of OpenCode in the database that was written last, or in the one that OPENCODE_DB names', async () => {
  const home = await temporaryFolder()
  const folder = join(home, 'data', 'opencode')
  const machine = (env = {}) => ({ home, env: { XDG_DATA_HOME: join(home, 'data'), ...env } })
  const databaseOf = (env = {}): string | undefined => {
    const input = parseHookInput('{"host":"opencode","session_id":"o1"}')
    return input === null ? undefined : transcriptOf(input, machine(env))
  }
  const write = (name: string, at: number): void => {
    writeFileSync(join(folder, name), '')
    utimesSync(join(folder, name), at, at)
  }
  expect(databaseOf()).toBeUndefined()
  mkdirSync(folder, { recursive: true })
  write('opencode-copy.db.bak', 5)
  expect(databaseOf()).toBeUndefined()
  write('opencode.db', 1)
  expect(databaseOf()).toBe(`${join(folder, 'opencode.db')}#o1`)
  write('opencode-dev.db', 2)
  expect(databaseOf()).toBe(`${join(folder, 'opencode-dev.db')}#o1`)
  write('opencode.db-wal', 3)
  expect(databaseOf()).toBe(`${join(folder, 'opencode.db')}#o1`)
  expect(sessionSources(machine())).toEqual([join(folder, 'opencode.db'), join(folder, 'opencode-dev.db')])
  expect(databaseOf({ OPENCODE_DB: 'mine.db' })).toBe(`${join(folder, 'mine.db')}#o1`)
  expect(databaseOf({ OPENCODE_DB: '/d/mine.db' })).toBe('/d/mine.db#o1')
  expect(databaseOf({ OPENCODE_DB: ':memory:' })).toBeUndefined()
})
