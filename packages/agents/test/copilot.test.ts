import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openTranscript } from '../src/index.ts'
import { jsonLines, messagesOf, outline, readTranscript, temporaryFolder } from './support.ts'

it('reads the events of a Copilot session', async () => {
  const event = (type: string, data: unknown) => ({ type, data, id: type, timestamp: '2026-11-20T09:00:00Z' })
  const { conversation, turns } = await readTranscript(
    'p1/events.jsonl',
    jsonLines(
      event('session.start', { sessionId: 'p1', context: { cwd: '/home/dev' } }),
      event('user.message', { content: 'run it' }),
      event('tool.execution_start', { toolCallId: 't', toolName: 'bash', arguments: { command: 'make' } }),
      event('tool.execution_complete', { toolCallId: 't', success: false, result: 'no' }),
      event('tool.execution_complete', { toolCallId: 'u', success: true, result: { content: 'yes' } }),
      event('tool.execution_complete', { toolCallId: 'v', success: false, error: { message: 'too late' } }),
      event('assistant.message', { content: 'It fails.' }),
    ),
  )
  expect(conversation).toMatchObject({ sessionId: 'p1', facts: { project: '/home/dev' } })
  expect(turns).toEqual([
    'user: run it',
    'assistant: (uses bash)',
    'assistant: (result, failed) no',
    'assistant: (result) yes',
    'assistant: (result, failed) too late',
    'assistant: It fails.',
  ])
})

it.each([
  [{ source: 'skill-pdf' }, 'assistant: (result) go on'],
  [{ source: 'system' }, 'assistant: (result) go on'],
  [{ isAutopilotContinuation: true }, 'assistant: (result) go on'],
  [{ source: 'agent-a1' }, 'assistant: (result) go on'],
  [{ source: 'cli' }, 'user: go on'],
  [{ source: 'agents' }, 'user: go on'],
  [{ source: 'systematic', isAutopilotContinuation: false }, 'user: go on'],
])('tells what Copilot says in the place of a person from what was typed: %j', async (more, turn) => {
  const { turns } = await readTranscript(
    'events.jsonl',
    jsonLines(
      { type: 'session.start', data: {} },
      { type: 'user.message', id: 'u', data: { content: 'go on', ...more } },
    ),
  )
  expect(turns).toEqual([turn])
})

it.each(['session.start', 'user.message', 'assistant.turn_start', 'tool.execution_start'])(
  'knows the events of a Copilot session by one of the type %s',
  async (type) => {
    const { conversation } = await readTranscript('events.jsonl', jsonLines({ type, data: {} }))
    expect(conversation.facts).toEqual({ skipped: {} })
    for (const other of [`my.${type}`, `${type}.now`, type.replace('.', '-')])
      await expect(readTranscript('a.jsonl', jsonLines({ type: other, data: {} }))).rejects.toThrow(
        'not a transcript',
      )
    await expect(readTranscript('a.jsonl', jsonLines({ type, data: 'x' }))).rejects.toThrow(
      'not a transcript',
    )
  },
)

it.each([
  ['p1/events.jsonl', { sessionId: 's1' }, 's1'],
  ['p1/events.jsonl', { sessionId: '' }, 'p1'],
  ['p1/events.jsonl', {}, 'p1'],
  ['p1/kept.jsonl', {}, 'kept'],
])('takes the id of the Copilot session %s that begins with %j for %s', async (name, data, id) => {
  const begun = { type: 'session.start', data }
  const later = { type: 'session.resume', data: { sessionId: 'later' } }
  expect((await readTranscript(name, jsonLines(begun, later))).conversation.sessionId).toBe(id)
  expect((await readTranscript('p2/events.jsonl', jsonLines(7, begun))).conversation.sessionId).toBe('p2')
})

it('reads when something was said in Copilot, where, and which tools were used, and counts the rest', async () => {
  const event = (type: string, data: unknown, more = {}) => ({ type, data, ...more })
  const { conversation, messages } = await readTranscript(
    'p1/events.jsonl',
    jsonLines(
      event('session.start', { context: { cwd: 7 } }),
      event('session.resume', { context: { cwd: '/home/dev/api' } }),
      event('session.resume', { context: { cwd: '/home/dev/web' } }),
      event('user.message', { content: 'run it' }, { id: 'u', timestamp: '2026-11-20T09:00:00Z' }),
      event('tool.execution_start', { toolCallId: 't', toolName: 'bash', arguments: { command: 'make' } }),
      event('tool.execution_complete', { toolCallId: 't', result: 'no' }, { id: '', timestamp: 'soon' }),
      event('tool.execution_start', { toolCallId: 7 }),
      event('tool.user_requested', { arguments: 'ls' }),
      event('tool.user_requested', { arguments: { command: 7 } }),
      event('mcp.hook', {}),
      event('session.canvas.recorded', {}),
      event('tool_search.activated', {}),
      event('external_tool.requested', {}),
      event('hook.start', 'x'),
      event('webhook.start', {}),
      7,
    ),
  )
  expect(messages).toEqual([
    { id: 'u', role: 'user', content: [{ type: 'text', text: 'run it' }], at: '2026-11-20T09:00:00.000Z' },
    {
      id: expect.stringMatching(/^said-/),
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't', name: 'bash', input: { command: 'make' } }],
    },
    {
      id: expect.stringMatching(/^said-/),
      role: 'assistant',
      content: [{ type: 'tool_result', toolUseId: 't', content: 'no' }],
    },
    {
      id: expect.stringMatching(/^said-/),
      role: 'assistant',
      content: [{ type: 'tool_use', id: '', name: 'tool', input: null }],
    },
  ])
  expect(messages[2]).not.toHaveProperty('at')
  expect(conversation.facts).toEqual({
    project: '/home/dev/api',
    skipped: { 'line that is not a message': 3 },
  })
})

it('reads what was pasted into a prompt of Copilot from the file that the host keeps it in', async () => {
  const folder = join(await temporaryFolder(), 'p1')
  await mkdir(join(folder, 'files'), { recursive: true })
  await writeFile(join(folder, 'files/paste-17.txt'), 'a long\nlog')
  await writeFile(join(folder, 'paste-18.txt'), 'of somebody else')
  const mark = (path: string) => `<pasted_content file="${path}" size="97.7 KB" lines="2230" />`
  const said = (type: string, content: string) => ({ type, data: { content }, id: content })
  await writeFile(
    join(folder, 'events.jsonl'),
    jsonLines(
      said(
        'user.message',
        `why?\n${mark(`${folder}/files/paste-17.txt`)} ${mark('C:\\files\\paste-17.txt')}`,
      ),
      said('user.message', mark(`${folder}/files/../paste-18.txt`)),
      said('assistant.message', mark(`${folder}/files/paste-17.txt`)),
    ),
  )
  const conversation = await openTranscript(join(folder, 'events.jsonl'))
  expect(outline(await messagesOf(conversation))).toEqual([
    'user: why?\na long\nlog a long\nlog',
    `user: ${mark(`${folder}/files/../paste-18.txt`)}`,
    `assistant: ${mark(`${folder}/files/paste-17.txt`)}`,
  ])
  expect(conversation.facts.skipped).toEqual({ 'pasted text that cannot be read': 1 })
})

it('tells a helper of a Copilot session and the commands of a person from its prompts', async () => {
  const event = (type: string, data: unknown, more = {}) => ({
    type,
    data,
    id: `${type} ${JSON.stringify(data)}`,
    ...more,
  })
  const { conversation, turns } = await readTranscript(
    'session-state/p1/events.jsonl',
    jsonLines(
      event('session.start', { sessionId: 'p1' }),
      event('hook.start', { hookType: 'sessionStart' }),
      event('permission.requested', { requestId: 'r' }),
      event('system.message', { content: 'be good' }),
      event('user.message', { content: 'fix it' }),
      event('subagent.started', { agentName: 'looker' }, { agentId: 'a1' }),
      event('user.message', { content: 'look into it', source: 'agent-a0' }, { agentId: 'a1' }),
      event('assistant.message', { content: 'looked' }, { agentId: 'a1' }),
      event('tool.user_requested', {
        toolCallId: 't',
        toolName: 'local_shell',
        arguments: { command: 'npm test' },
      }),
      event('tool.execution_complete', { toolCallId: 't', success: true, result: { content: '3 passed' } }),
    ),
  )
  expect(turns).toEqual([
    'user: fix it',
    'assistant: look into it',
    'assistant: looked',
    'user: ! npm test',
    'assistant: (result) 3 passed',
  ])
  expect(conversation.facts.skipped).toEqual({})
})

it.each([
  ['the name that a person chose', 'name: "Calm: seas"\nuser_named: true\n', 'Calm: seas'],
  ['what a person chose to begin with as well', 'name: fix it\nuser_named: true\n', 'fix it'],
  ['the name that the host made', 'name: Mending the pool\nuser_named: false\n', 'Mending the pool'],
  ['not the first prompt', 'name: |-\n  fix it\n\n  now\nuser_named: false\n', undefined],
  ['not the beginning of the first prompt', 'name: fix…\n', undefined],
  ['not the first prompt in one line', 'name: fix it now please\n', undefined],
  ['nothing that is no name', 'name:\n  - 1\n', undefined],
  ['nothing of a file that is none', '{', undefined],
  ['nothing without a file', undefined, undefined],
])('takes for the title of a Copilot session %s', async (_, facts, title) => {
  const folder = join(await temporaryFolder(), 'p1')
  await mkdir(folder)
  const event = (type: string, data: unknown) => ({ type, data, id: type })
  await writeFile(
    join(folder, 'events.jsonl'),
    jsonLines(
      event('session.start', { sessionId: 'p1' }),
      event('assistant.message', { content: 'Calm: seas?' }),
      event('user.message', { content: 'fix it\n\nnow please' }),
      event('user.message', { content: 'Mending the pool' }),
      event('assistant.message', { content: 'done' }),
    ),
  )
  if (facts !== undefined) await writeFile(join(folder, 'workspace.yaml'), facts)
  const conversation = await openTranscript(join(folder, 'events.jsonl'))
  expect(await messagesOf(conversation)).toHaveLength(4)
  expect(conversation.facts.title).toBe(title)
})
