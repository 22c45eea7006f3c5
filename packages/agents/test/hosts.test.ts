import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { openTranscript, parseHookInput, stateOfSource, transcriptOf } from '../src/index.ts'
import { jsonLines, messagesOf, outline, temporaryFolder } from './support.ts'

async function read(name: string, text: string) {
  const path = join(await temporaryFolder(), name)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  const conversation = await openTranscript(path)
  const messages = await messagesOf(conversation)
  return { conversation, messages, turns: outline(messages) }
}

it('reads a rollout of Codex once, without what the host put in', async () => {
  const item = (payload: unknown) => ({ timestamp: '2026-11-20T09:00:00Z', type: 'response_item', payload })
  const said = (role: string, type: string, text: string) =>
    item({ type: 'message', role, content: [{ type, text }] })
  const { conversation, turns } = await read(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines(
      { timestamp: 't', type: 'session_meta', payload: { id: 'c1', cwd: '/home/dev/api' } },
      said('developer', 'input_text', 'be good'),
      said('user', 'input_text', '<environment_context>linux</environment_context>'),
      said('user', 'input_text', 'fix it'),
      { timestamp: 't', type: 'event_msg', payload: { type: 'user_message', message: 'fix it' } },
      item({ type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin', call_id: 'k' }),
      item({ type: 'custom_tool_call_output', call_id: 'k', output: 'done' }),
      said('assistant', 'output_text', 'fixed'),
    ),
  )
  expect(conversation).toMatchObject({ sessionId: 'c1', facts: { project: '/home/dev/api', skipped: {} } })
  expect(turns).toEqual([
    'user: fix it',
    'assistant: (uses apply_patch)',
    'assistant: (result) done',
    'assistant: fixed',
  ])
})

it('reads of the tools of Codex what ran, on which files, and whether it failed', async () => {
  const line = (type: string, payload: unknown) => ({ timestamp: '2026-11-20T09:00:00Z', type, payload })
  const item = (payload: unknown) => line('response_item', payload)
  const call = (id: string, name: string, input: unknown) =>
    item({ type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) })
  const output = (id: string, text: string) =>
    item({ type: 'function_call_output', call_id: id, output: text })
  const patch =
    '*** Begin Patch\n*** Update File: src/pool.ts\n@@\n-a\n+b\n*** Add File: b.ts\n+c\n*** End Patch'
  const { messages } = await read(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines(
      line('session_meta', { id: 'c1', cwd: '/home/dev/api' }),
      call('1', 'shell', { workdir: '/home/dev/api', command: ['bash', '-lc', 'npm test'] }),
      line('event_msg', { type: 'exec_command_end', call_id: '1', exit_code: 1 }),
      output('1', '1 failing'),
      item({ type: 'local_shell_call', call_id: '2', action: { type: 'exec', command: ['ls', '-la'] } }),
      line('event_msg', { type: 'exec_command_end', call_id: '2', exit_code: 0 }),
      output('2', JSON.stringify({ output: 'b.ts', metadata: { exit_code: 0 } })),
      call('3', 'shell', { command: ['make'] }),
      output('3', JSON.stringify({ output: 'no rule', metadata: { exit_code: 2 } })),
      item({ type: 'custom_tool_call', call_id: '4', name: 'apply_patch', input: patch }),
      item({ type: 'web_search_call', action: { type: 'search', query: 'pool leak' } }),
      call('5', 'shell', { command: [['odd'], {}] }),
    ),
  )
  const blocks = messages.flatMap(({ content }) => content)
  expect(blocks).toMatchObject([
    { name: 'shell', input: { command: 'npm test' } },
    { content: '1 failing', isError: true },
    { name: 'shell', input: { command: 'ls -la' } },
    { content: 'b.ts' },
    { name: 'shell', input: { command: 'make' } },
    { content: 'no rule', isError: true },
    { name: 'apply_patch', input: { path: 'src/pool.ts', paths: ['src/pool.ts', 'b.ts'] } },
    { name: 'web_search', input: { query: 'pool leak' } },
    { name: 'shell', input: { command: [['odd'], {}] } },
  ])
  expect(blocks[3]).not.toHaveProperty('isError')
})

it('tells by the kinds of its parts what Codex itself put into a message', async () => {
  const said = (texts: string[], kinds: string[]) => ({
    timestamp: '2026-11-20T09:00:00Z',
    type: 'response_item',
    payload: {
      type: 'message',
      role: 'user',
      content: texts.map((text) => ({ type: 'input_text', text })),
      internal_chat_message_metadata_passthrough: { content_item_kinds: kinds },
    },
  })
  const { turns } = await read(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines(
      { timestamp: 't', type: 'session_meta', payload: { id: 'c1' } },
      said(['Rules of the house', 'linux'], ['agents_md.instructions', 'environments.environment_context']),
      said(['<skill> is a tag that I like'], ['user.text']),
      said(['use the skill', 'text of the skill'], ['user.text', 'skills.selected_skill_instructions']),
    ),
  )
  expect(turns).toEqual(['user: <skill> is a tag that I like', 'user: use the skill'])
})

it('reads a command that a person ran in Codex, and which calls failed there', async () => {
  const line = (type: string, payload: unknown) => ({ timestamp: '2026-11-20T09:00:00Z', type, payload })
  const ran =
    '<user_shell_command>\n<command>\nnpm test\n</command>\n<result>\nExit code: 0\nOutput:\n3 passed\n\n</result>\n</user_shell_command>'
  const item = (id: string, status: string) => ({
    type: 'item_completed',
    item: { type: 'McpToolCall', id, status },
  })
  const output = (id: string) =>
    line('response_item', { type: 'function_call_output', call_id: id, output: id })
  const { turns } = await read(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines(
      line('session_meta', { id: 'c1' }),
      line('response_item', {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: ran }],
      }),
      line('event_msg', item('refused', 'failed')),
      output('refused'),
      line('event_msg', item('allowed', 'completed')),
      output('allowed'),
    ),
  )
  expect(turns).toEqual([
    'user: ! npm test',
    'assistant: (result) Exit code: 0\nOutput:\n3 passed',
    'assistant: (result, failed) refused',
    'assistant: (result) allowed',
  ])
})

it('knows a Codex session again that was archived before its searches were read', async () => {
  const item = (payload: unknown) => ({ timestamp: 't', type: 'response_item', payload })
  const said = item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] })
  const search = item({ type: 'web_search_call', action: { type: 'search', query: 'x' } })
  const idsOf = async (...lines: unknown[]) => (await read('rollout-x.jsonl', jsonLines(...lines))).messages
  const [before] = await idsOf(said)
  const [first, second, after] = await idsOf(search, search, said)
  expect(after?.id).toBe(before?.id)
  expect(new Set([first?.id, second?.id, after?.id]).size).toBe(3)
})

it.each([
  ['a spawned one', { source: { subagent: { thread_spawn: { parent_thread_id: 'p' } } } }],
  ['a later form', { parent_thread_id: 'p', source: { subagent: { thread_spawn: {} } } }],
  ['a guardian', { session_id: 'p', source: { subagent: { other: 'guardian' } } }],
])('knows the helpers of a Codex session: %s', async (_, meta) => {
  const { conversation } = await read(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines({ timestamp: 't', type: 'session_meta', payload: { id: 'h', ...meta } }),
  )
  expect(conversation).toMatchObject({ sessionId: 'p/h', parent: 'p' })
})

it.each([
  ['its session', { session_id: 's', parent_thread_id: 'p' }, 's/p'],
  ['its own id for a session', { session_id: 'h', parent_thread_id: 'p' }, 'p'],
])("names the helper of a Codex session's helper after both: %s", async (_, meta, parent) => {
  const { conversation } = await read(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines({
      timestamp: 't',
      type: 'session_meta',
      payload: { id: 'h', ...meta, source: { subagent: { thread_spawn: {} } } },
    }),
  )
  expect(conversation).toMatchObject({ sessionId: `${parent}/h`, parent })
})

it('reads a chat of Gemini CLI line by line', async () => {
  const { conversation, turns } = await read(
    'session.jsonl',
    jsonLines(
      { sessionId: 'g1', startTime: '2026-11-20T09:00:00Z' },
      { id: '1', timestamp: '2026-11-20T09:00:00Z', type: 'user', content: 'hello' },
      { $set: { summary: 'x' } },
      { id: '2', timestamp: '2026-11-20T09:00:01Z', type: 'gemini', content: 'hi' },
    ),
  )
  expect(conversation.sessionId).toBe('g1')
  expect(turns).toEqual(['user: hello', 'assistant: hi'])
})

it('finds the prompt behind what hooks said, and commands that the person ran, in a Gemini chat', async () => {
  const folder = await temporaryFolder()
  const path = join(folder, 'api', 'chats', 'session-1.jsonl')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(join(folder, 'api', '.project_root'), '/home/dev/api')
  const user = (id: string, ...texts: string[]) => ({
    id,
    type: 'user',
    content: texts.map((text) => ({ text })),
  })
  await writeFile(
    path,
    jsonLines(
      { sessionId: 'g1', projectHash: 'h', kind: 'main' },
      user(
        '1',
        '<hook_context>&lt;recalled-memory&gt;\nold\n&lt;/recalled-memory&gt;</hook_context>\n\nfix it',
      ),
      user('2', '<hook_context>only context</hook_context>'),
      user(
        '3',
        'I ran the following shell command:\n```sh\nnpm test\n```\n\nThis produced the following result:\n```\n1 failing\n```',
      ),
      user('4', 'what does <hook_context> mean?'),
      { id: '5', type: 'gemini', content: 'fixed' },
    ),
  )
  const conversation = await openTranscript(path)
  expect(outline(await messagesOf(conversation))).toEqual([
    'user: fix it',
    'user: ! npm test',
    'assistant: (result) 1 failing',
    'user: what does <hook_context> mean?',
    'assistant: fixed',
  ])
  expect(conversation.facts.project).toBe('/home/dev/api')
})

it('reads a chat of Gemini CLI as the log that it is', async () => {
  const message = (id: string, type: string, content: unknown, more = {}) => ({ id, type, content, ...more })
  const tool = (status: string, more = {}) => ({
    toolCalls: [{ id: 'c', name: 'shell', args: { command: 'ls' }, status, ...more }],
  })
  const { conversation, turns } = await read(
    'session.jsonl',
    jsonLines(
      { sessionId: 'g1', projectHash: 'f', startTime: '2026-11-20T09:00:00Z', kind: 'main' },
      { $set: { messages: [message('s', 'user', [{ text: '<session_context>\nThis is the CLI.' }])] } },
      message('1', 'user', [{ text: 'see @a.ts' }, { text: 'the whole of a.ts' }], {
        displayContent: [{ text: 'see @a.ts' }],
      }),
      message('2', 'gemini', [{ text: 'hm', thought: true }], tool('executing')),
      message('3', 'user', [{ functionResponse: { id: 'c', response: { output: 'a.txt' } } }]),
      message(
        '2',
        'gemini',
        [{ text: 'I look' }],
        tool('error', { result: [{ functionResponse: { response: { error: 'no such folder' } } }] }),
      ),
      {
        $set: {
          messages: [message('x', 'user', [{ text: '<state_snapshot>all of it' }])],
          summary: 'A look',
        },
      },
      message('4', 'user', [{ text: 'go on' }, { text: '<hook_context>by a hook</hook_context>' }]),
      { $rewindTo: '4' },
    ),
  )
  expect(turns).toEqual([
    'user: see @a.ts',
    'assistant: I look | (uses shell) | (result, failed) no such folder',
    'user: go on',
  ])
  expect(conversation.facts).toEqual({ skipped: {}, title: 'A look' })
})

it('reads calls and their results where a Gemini chat has them as parts of messages', async () => {
  const response = (answer: object) => ({ functionResponse: { id: 'c', name: 'shell', response: answer } })
  const { turns, messages } = await read(
    'session.jsonl',
    jsonLines(
      { sessionId: 'g1', projectHash: 'f' },
      { id: '1', type: 'user', content: [{ text: 'look' }] },
      {
        id: '2',
        type: 'gemini',
        content: [{ text: 'I look' }, { functionCall: { id: 'c', name: 'shell', args: { command: 'ls' } } }],
      },
      { id: '3', type: 'user', content: [response({ error: 'no such folder' })] },
      { id: '4', type: 'user', content: [response({ error: 'no such folder' })] },
      { id: '5', type: 'gemini', content: [{ functionCall: null }, { functionResponse: 7 }] },
    ),
  )
  expect(turns).toEqual([
    'user: look',
    'assistant: I look | (uses shell)',
    'assistant: (result, failed) no such folder',
  ])
  expect(messages[1]?.content[1]).toMatchObject({ id: 'c', input: { command: 'ls' } })
})

it('reads a chat of Gemini CLI that holds nothing but what the model was given', async () => {
  const { turns } = await read(
    'session.jsonl',
    jsonLines(
      { sessionId: 'g1', projectHash: 'f' },
      { $set: { messages: [{ id: '1', type: 'user', content: 'hello' }] } },
      {
        $set: {
          messages: [
            { id: '1', type: 'user', content: 'hello' },
            { id: '2', type: 'gemini', content: 'hi' },
          ],
        },
      },
    ),
  )
  expect(turns).toEqual(['user: hello', 'assistant: hi'])
})

it('reads a chat of Gemini CLI that is one document, also behind a byte order mark', async () => {
  const messages = [
    { id: '1', type: 'user', content: 'hello' },
    { id: '2', type: 'gemini', content: 'hi' },
  ]
  for (const mark of ['', '\uFEFF']) {
    const { conversation, turns } = await read(
      'session.json',
      mark + JSON.stringify({ sessionId: 'g1', messages }, null, 2),
    )
    expect(conversation.sessionId).toBe('g1')
    expect(turns).toEqual(['user: hello', 'assistant: hi'])
  }
})

it('knows the helper of a Gemini session by its folder', async () => {
  const { conversation } = await read(
    'chats/g1/h1.jsonl',
    jsonLines(
      { sessionId: 'h1', projectHash: 'f', kind: 'subagent', directories: ['/home/dev'] },
      { id: '1', type: 'user', content: 'look into it' },
    ),
  )
  expect(conversation).toMatchObject({ sessionId: 'g1/h1', parent: 'g1', facts: { project: '/home/dev' } })
})

it('reads the events of a Copilot session', async () => {
  const event = (type: string, data: unknown) => ({ type, data, id: type, timestamp: '2026-11-20T09:00:00Z' })
  const { conversation, turns } = await read(
    'p1/events.jsonl',
    jsonLines(
      event('session.start', { sessionId: 'p1', context: { cwd: '/home/dev' } }),
      event('user.message', { content: 'run it' }),
      event('tool.execution_start', { toolCallId: 't', toolName: 'bash', arguments: { command: 'make' } }),
      event('tool.execution_complete', { toolCallId: 't', success: false, result: 'no' }),
      event('tool.execution_complete', { toolCallId: 'u', success: true, result: { content: 'yes' } }),
      event('assistant.message', { content: 'It fails.' }),
    ),
  )
  expect(conversation).toMatchObject({ sessionId: 'p1', facts: { project: '/home/dev' } })
  expect(turns).toEqual([
    'user: run it',
    'assistant: (uses bash)',
    'assistant: (result, failed) no',
    'assistant: (result) yes',
    'assistant: It fails.',
  ])
})

it('tells a helper of a Copilot session and the commands of a person from its prompts', async () => {
  const event = (type: string, data: unknown, more = {}) => ({
    type,
    data,
    id: `${type} ${JSON.stringify(data)}`,
    ...more,
  })
  const { conversation, turns } = await read(
    'session-state/p1/events.jsonl',
    jsonLines(
      event('session.start', { sessionId: 'p1' }),
      event('hook.start', { hookType: 'sessionStart' }),
      event('permission.requested', { requestId: 'r' }),
      event('system.message', { content: 'be good' }),
      event('user.message', { content: 'fix it' }),
      event('subagent.started', { agentName: 'looker' }, { agentId: 'a1' }),
      event('user.message', { content: 'look into it' }, { agentId: 'a1' }),
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

it('reads a transcript of Cursor, which has no times', async () => {
  const line = (role: string, text: string) => ({ role, message: { content: [{ type: 'text', text }] } })
  const { conversation, turns } = await read(
    'u1.jsonl',
    jsonLines(line('user', 'paint it'), line('assistant', 'done')),
  )
  expect(conversation.sessionId).toBe('u1')
  expect(turns).toEqual(['user: paint it', 'assistant: done'])
})

it('reads what a hook is handed also behind a byte order mark', () => {
  expect(parseHookInput('\uFEFF{"session_id":"s","hook_event_name":"Stop"}')).toMatchObject({
    host: 'claude',
    sessionId: 's',
  })
})

it('finds the transcript where a host does not name it, and nowhere else', () => {
  const machine = { home: '/home/ana', env: {} }
  const find = (payload: object): string | undefined => {
    const input = parseHookInput(JSON.stringify(payload))
    return input === null ? undefined : transcriptOf(input, machine)
  }
  expect(find({ sessionId: 'p1' })).toBe('/home/ana/.copilot/session-state/p1/events.jsonl')
  expect(find({ host: 'opencode', session_id: 'o1' })).toBe('/home/ana/.local/share/opencode/opencode.db#o1')
  expect(find({ sessionId: '../../etc' })).toBeUndefined()
  expect(find({ sessionId: '..' })).toBeUndefined()
  expect(find({ session_id: 's', transcript_path: null, turn_id: 't' })).toBeUndefined()
})

const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
const strange = '{"toString":null}'
const question = '{"role":"user","content":"hello"}\n'

it.each([
  ['a neutral transcript', `${question}{"role":"tool","content":${deep}}\n`],
  ['a list in a result', `${question}{"role":"tool","content":[[${deep}],{"type":${strange}}]}\n`],
  [
    'a call of Codex',
    `{"type":"response_item","payload":{"type":"function_call","name":${strange},"arguments":${deep}}}\n`,
  ],
  [
    'a call of Gemini CLI',
    `{"type":"gemini","content":"x","toolCalls":[{"name":${strange},"result":${deep}}]}\n`,
  ],
  [
    'a call of Copilot CLI',
    `{"type":"tool.execution_start","data":{"toolName":${strange},"arguments":${deep}},"id":"i"}\n`,
  ],
])('reads %s that is nested deeply or no name', async (_, text) => {
  const { turns } = await read('deep.jsonl', text)
  expect(turns.length).toBeGreaterThan(0)
})

it('knows the helpers of an OpenCode session', async () => {
  const path = join(await temporaryFolder(), 'opencode.db')
  const database = new DatabaseSync(path)
  database.exec(`
    CREATE TABLE session (id TEXT, parent_id TEXT, time_created INTEGER);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
    INSERT INTO session VALUES ('o1', NULL, 1), ('o2', 'o1', 2), ('o3', 'o2', 3), ('o4', 'o4', 4);`)
  database.close()
  expect(await openTranscript(`${path}#o1`)).not.toHaveProperty('parent')
  // An id with a slash is what keeps a helper out of the window also where only its archive is known.
  expect(await openTranscript(`${path}#o2`)).toMatchObject({ sessionId: 'o1/o2', parent: 'o1' })
  expect(await openTranscript(`${path}#o3`)).toMatchObject({ sessionId: 'o1/o2/o3', parent: 'o1/o2' })
  expect(await openTranscript(`${path}#o4`)).not.toHaveProperty('parent')
})

it('takes no name that OpenCode gives every session for a title, nor its own summary for an answer', async () => {
  const path = join(await temporaryFolder(), 'opencode.db')
  const database = new DatabaseSync(path)
  const message = (id: string, data: unknown) =>
    `INSERT INTO message VALUES ('${id}', 'o1', ${id}, '${JSON.stringify(data)}');
     INSERT INTO part VALUES ('p${id}', '${id}', '${JSON.stringify({ type: 'text', text: `text ${id}` })}');`
  database.exec(`
    CREATE TABLE session (id TEXT, parent_id TEXT, title TEXT, time_created INTEGER);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
    INSERT INTO session VALUES ('o1', NULL, 'New session - 2026-11-20T09:00:00.000Z', 1), ('o2', NULL, 'Pool', 2);
    ${message('1', { role: 'user', summary: { diffs: [] } })}
    ${message('2', { role: 'assistant', summary: true, mode: 'compaction' })}
    ${message('3', { role: 'assistant' })}`)
  database.close()
  const conversation = await openTranscript(`${path}#o1`)
  expect(conversation.facts).not.toHaveProperty('title')
  expect(outline(await messagesOf(conversation))).toEqual(['user: text 1', 'assistant: text 3'])
  expect((await openTranscript(`${path}#o2`)).facts.title).toBe('Pool')
})

it('counts the parts of an OpenCode message that are damaged', async () => {
  const path = join(await temporaryFolder(), 'opencode.db')
  const database = new DatabaseSync(path)
  database.exec(`
    CREATE TABLE session (id TEXT, time_created INTEGER);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
    INSERT INTO session VALUES ('o1', 1);
    INSERT INTO message VALUES ('m1', 'o1', 1, '{"role":"user"}');
    INSERT INTO part VALUES ('p1', 'm1', '{"type":"text","text":"hello"}'), ('p2', 'm1', '{"type":"te'),
      ('p3', 'm1', '{"type":"step-start"}');`)
  database.close()
  const conversation = await openTranscript(`${path}#o1`)
  expect(outline(await messagesOf(conversation))).toEqual(['user: hello'])
  expect(conversation.facts.skipped).toEqual({ 'unrecognised content block': 1 })
})

it('sees that a session in a database goes on while what is new stands only in its log', async () => {
  const path = join(await temporaryFolder(), 'opencode.db')
  await writeFile(path, 'unchanged')
  const before = await stateOfSource(`${path}#o1`)
  expect(await stateOfSource(`${path}#o1`)).toEqual(before)
  await writeFile(`${path}-wal`, 'new')
  const after = await stateOfSource(`${path}#o1`)
  expect(after.stamp).not.toBe(before.stamp)
  expect(after.changedAt).toBeGreaterThanOrEqual(before.changedAt)
})
