import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listImportable, openTranscript, sessionSources } from '../src/index.ts'
import { jsonLines, messagesOf, outline, readTranscript, temporaryFolder } from './support.ts'

const record = (uuid: string, type: string, more: Record<string, unknown> = {}) => ({
  uuid,
  parentUuid: null,
  sessionId: 'q1',
  timestamp: '2026-11-20T09:00:00Z',
  type,
  cwd: '/home/dev/api',
  version: '0.5.0',
  ...more,
})
const user = (uuid: string, text: string, more: Record<string, unknown> = {}) =>
  record(uuid, 'user', { message: { role: 'user', parts: [{ text }] }, ...more })
const model = (uuid: string, ...parts: unknown[]) =>
  record(uuid, 'assistant', { message: { role: 'model', parts }, model: 'qwen3-coder-plus' })
const result = (uuid: string, response: unknown, toolCallResult: Record<string, unknown> = {}) =>
  record(uuid, 'tool_result', {
    message: { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'shell', response } }] },
    toolCallResult,
  })

it('reads who said what in a chat of Qwen Code, without thoughts and the notes of the host', async () => {
  const { conversation, messages, turns } = await readTranscript(
    'q1.jsonl',
    jsonLines(
      record('s1', 'system', { subtype: 'session_source', systemPayload: { sourceType: 'cli' } }),
      user('u1', 'fix the pool leak'),
      model(
        'a1',
        { text: 'where is it?', thought: true },
        { text: 'I look.' },
        { functionCall: { id: 'c1', name: 'shell', args: { command: 'ls' } } },
      ),
      result('r1', { output: 'pool.ts' }),
      record('s2', 'system', { subtype: 'custom_title', systemPayload: { customTitle: 'Pool leak' } }),
      model('a2', { text: 'Found it.' }),
      7,
    ),
  )
  expect(conversation).toMatchObject({ sessionId: 'q1' })
  expect(conversation).not.toHaveProperty('parent')
  expect(turns).toEqual([
    'user: fix the pool leak',
    'assistant: I look. | (uses shell)',
    'assistant: (result) pool.ts',
    'assistant: Found it.',
  ])
  expect(messages[0]).toMatchObject({ id: 'u1', at: '2026-11-20T09:00:00.000Z' })
  expect(messages[1]?.content[1]).toEqual({
    type: 'tool_use',
    id: 'c1',
    name: 'shell',
    input: { command: 'ls' },
  })
  expect(conversation.facts).toEqual({
    skipped: { 'line that is not a message': 1 },
    project: '/home/dev/api',
    title: 'Pool leak',
  })
})

it.each([[user('u1', 'hi')], [record('s1', 'system', { systemPayload: {} })]])(
  'knows a chat of Qwen Code by the line %j',
  async (line) => {
    const { conversation } = await readTranscript('a.jsonl', jsonLines(line))
    expect(conversation).toMatchObject({ sessionId: 'q1', facts: { skipped: {} } })
  },
)

it('names a session of Qwen Code by the first line that does, else by its file', async () => {
  const nameless = { ...user('u1', 'hi'), sessionId: undefined }
  const { conversation, turns } = await readTranscript(
    'chat-7.jsonl',
    jsonLines('x', nameless, user('u2', 'ho')),
  )
  expect(conversation.sessionId).toBe('q1')
  expect(turns).toEqual(['user: hi', 'user: ho'])
  expect((await readTranscript('chat-7.jsonl', jsonLines(nameless))).conversation.sessionId).toBe('chat-7')
})

it('takes a session of Claude Code for none of Qwen Code', async () => {
  const said = record('u1', 'user', { message: { role: 'user', content: 'hi' } })
  expect((await readTranscript('a.jsonl', jsonLines(said))).turns).toEqual(['user: hi'])
})

describe('a prompt in Qwen Code', () => {
  const turnsOf = async (...lines: unknown[]) => (await readTranscript('q1.jsonl', jsonLines(...lines))).turns

  it('is what was typed, not what the host made of it', async () => {
    const systemPayload = { displayText: 'explain @pool.ts', hookContext: 'recalled' }
    expect(await turnsOf(user('u1', 'recalled\nexplain pool.ts\nwhole file', { systemPayload }))).toEqual([
      'user: explain @pool.ts',
    ])
    const files = '\n--- Content from referenced files ---\nwhole file\n--- End of content ---'
    expect(await turnsOf(user('u1', `explain @pool.ts${files}`))).toEqual([
      'user: explain @pool.ts',
      'assistant: (result) whole file',
    ])
  })

  it('may come while the agent works, and once', async () => {
    const subtype = 'mid_turn_user_message'
    expect(await turnsOf(user('u1', 'go'), user('u2', 'stop', { subtype }), user('u1', 'go'))).toEqual([
      'user: go',
      'user: stop',
    ])
    expect(await turnsOf(user('u1', 'go'), user('u2', ' \n'), model('a1'))).toEqual(['user: go'])
  })

  it.each([
    { subtype: 'notification' },
    { subtype: 'cron' },
    { subtype: 'goal_runtime' },
    { externalInputKind: 'notification' },
  ])('is none where the host says it: %j', async (from) => {
    expect(await turnsOf(user('u1', 'the build has ended', from), user('u2', '', from))).toEqual([
      'assistant: (result) the build has ended',
    ])
  })
})

it.each([
  [{ output: 'for the model' }, { resultDisplay: 'for the person' }, '(result) for the person'],
  [{ output: 'for the model' }, { resultDisplay: { fileDiff: 'x' } }, '(result) for the model'],
  [{ error: 'no such file' }, {}, '(result, failed) no such file'],
  [{ output: 'gone' }, { status: 'error' }, '(result, failed) gone'],
])('reads the result %j with %j of a call in Qwen Code', async (response, toolCallResult, told) => {
  const { turns } = await readTranscript('q1.jsonl', jsonLines(result('r1', response, toolCallResult)))
  expect(turns).toEqual([`assistant: ${told}`])
})

describe('beside a session of Qwen Code', () => {
  const projectWith = async (files: Record<string, unknown[]>) => {
    const home = await temporaryFolder()
    const project = join(home, '.qwen/projects/-home-dev-api')
    for (const [name, lines] of Object.entries(files)) {
      await mkdir(dirname(join(project, name)), { recursive: true })
      await writeFile(join(project, name), jsonLines(...lines))
    }
    return { home, at: (name: string) => join(project, name) }
  }

  it('are the chats of its helpers', async () => {
    const asHelper = { isSidechain: true, agentId: 'explore-7f3c' }
    const { home, at } = await projectWith({
      'chats/q1.jsonl': [user('u1', 'go')],
      'chats/q2.jsonl': [user('u2', 'go', { sessionId: 'q2' })],
      'subagents/q1/agent-explore-7f3c.jsonl': [user('h1', 'look at the pool', asHelper)],
      'subagents/q1/agent-explore-7f3c.meta.json': [{ agentId: 'explore-7f3c' }],
    })
    const helper = at('subagents/q1/agent-explore-7f3c.jsonl')
    expect(await listImportable(at('chats/q1.jsonl'))).toEqual([at('chats/q1.jsonl'), helper])
    expect(await listImportable(at('chats/q2.jsonl'))).toEqual([at('chats/q2.jsonl')])
    const conversation = await openTranscript(helper)
    expect(conversation).toMatchObject({ sessionId: 'q1/explore-7f3c', parent: 'q1' })
    expect(outline(await messagesOf(conversation))).toEqual(['user: look at the pool'])

    expect(sessionSources({ home, env: {} })).toEqual([join(home, '.qwen/projects')])
    const env = { QWEN_RUNTIME_DIR: join(home, '.qwen') }
    expect(sessionSources({ home: '/nowhere', env })).toEqual([join(home, '.qwen/projects')])
  })

  it('is the one that it was forked from, which has what was said before', async () => {
    const forkedFrom = { sessionId: 'q1', messageUuid: 'u1' }
    const { at } = await projectWith({
      'chats/q1.jsonl': [user('u1', 'go')],
      'chats/q2.jsonl': [
        user('u1', 'go', { sessionId: 'q2', forkedFrom }),
        user('u2', 'another way', { sessionId: 'q2' }),
      ],
    })
    expect(await listImportable(at('chats/q2.jsonl'))).toEqual([at('chats/q2.jsonl'), at('chats/q1.jsonl')])
    expect(outline(await messagesOf(await openTranscript(at('chats/q2.jsonl'))))).toEqual([
      'user: another way',
    ])
  })
})
