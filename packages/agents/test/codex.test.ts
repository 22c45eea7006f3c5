import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sessionName } from '../src/codex/session-name.ts'
import { openTranscript } from '../src/index.ts'
import { jsonLines, messagesOf, readTranscript, temporaryFolder } from './support.ts'

const uuid = '01a21bfc-FA61-7e12-9275-9eb3886b1175'

it('reads a rollout of Codex once, without what the host put in', async () => {
  const item = (payload: unknown) => ({ timestamp: '2026-11-20T09:00:00Z', type: 'response_item', payload })
  const said = (role: string, type: string, text: string) =>
    item({ type: 'message', role, content: [{ type, text }] })
  const { conversation, turns } = await readTranscript(
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

it('does not take the summary of a compaction for what the agent said', async () => {
  const line = (type: string, payload: unknown) => ({ timestamp: '2026-11-20T09:00:00Z', type, payload })
  const said = (text: string) =>
    line('response_item', { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })
  const told = line('compacted', { message: 'Here is the summary:\nThe pool leaked.\n' })
  const { turns } = await readTranscript(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines(
      line('session_meta', { id: 'c1' }),
      said('It leaks.'),
      line('compacted', { message: '' }),
      said('The pool leaked.'),
      line('event_msg', { type: 'token_count' }),
      told,
      said('The pool leaked.'),
    ),
  )
  expect(turns).toEqual([
    'assistant: It leaks.',
    'assistant: (result) [compacted]',
    'assistant: The pool leaked.',
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
  const { messages } = await readTranscript(
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
      item({ type: 'local_shell_call' }),
      item({ type: 'web_search_call', call_id: '7' }),
    ),
  )
  const blocks = messages.flatMap(({ content }) => content)
  expect(blocks).toMatchObject([
    { type: 'tool_use', id: '1', name: 'shell', input: { command: 'npm test' } },
    { type: 'tool_result', toolUseId: '1', content: '1 failing', isError: true },
    { type: 'tool_use', id: '2', name: 'shell', input: { command: 'ls -la' } },
    { content: 'b.ts' },
    { name: 'shell', input: { command: 'make' } },
    { content: 'no rule', isError: true },
    { name: 'apply_patch', input: { path: 'src/pool.ts', paths: ['src/pool.ts', 'b.ts'] } },
    { type: 'tool_use', id: '', name: 'web_search', input: { query: 'pool leak' } },
    { name: 'shell', input: { command: [['odd'], {}] } },
    { type: 'tool_use', id: '', name: 'shell', input: null },
    { type: 'tool_use', id: '7', name: 'web_search', input: null },
  ])
  expect(blocks[3]).not.toHaveProperty('isError')
})

it.each([
  ['watches over a session', { source: { subagent: { other: 'guardian' } } }],
  ['watches over a session, in a later form', { source: 'vscode', thread_source: 'guardian_review' }],
  ['shortens a session', { source: { subagent: 'compact' } }],
  ['keeps notes', { source: { internal: 'memory_consolidation' } }],
])('finds nothing in a Codex session that %s', async (_, meta) => {
  const asked = '>>> TRANSCRIPT START\n[1] user: fix it\n>>> TRANSCRIPT END'
  const content = [{ type: 'input_text', text: asked }]
  const { turns } = await readTranscript(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines(
      { timestamp: 't', type: 'session_meta', payload: { id: 'h', ...meta } },
      { timestamp: 't', type: 'response_item', payload: { type: 'message', role: 'user', content } },
    ),
  )
  expect(turns).toEqual([])
})

it.each([
  [{ parent_thread_id: 'p' }, ['user: mine']],
  [{ history_base: { thread_id: 'p', end_ordinal_exclusive: 4 } }, ['user: mine']],
  [{ forked_from_id: 'p' }, ['user: of another', 'user: mine']],
])('leaves out what a Codex session inherited from one that it goes by: %j', async (meta, turns) => {
  const said = (text: string, more = {}) => ({
    timestamp: 't',
    type: 'response_item',
    payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    ...more,
  })
  const inherited = { metadata: { inherited_user_message: true } }
  const read = await readTranscript(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines(
      { timestamp: 't', type: 'session_meta', payload: { id: 'h', ...meta } },
      said('of another', inherited),
      said('mine', { metadata: { user_input_order: 1 } }),
    ),
  )
  expect(read.turns).toEqual(turns)
})

it.each(['session_meta', 'turn_context', 'response_item', 'event_msg', 'compacted', 'world_state'])(
  'knows a rollout of Codex by a line of type %s',
  async (type) => {
    const { turns } = await readTranscript('a.jsonl', jsonLines({ type, payload: {} }))
    expect(turns).toEqual([])
    const other = readTranscript(
      'b.jsonl',
      jsonLines({ type, payload: 'text' }, { type: 'note', payload: {} }),
    )
    await expect(other).rejects.toMatchObject({ code: 'MEMORY_INVALID_INPUT' })
  },
)

it.each([
  ['the first line that has it', [{ payload: { id: 'x' } }, { id: 'c1' }, { id: 'c2' }], 'c1'],
  ['its other name', [{ session_id: 'c1' }], 'c1'],
  ['the name of its file', [{ id: '' }, { id: 7, source: { subagent: 'review' } }], uuid],
  ['a program that started it', [{ id: 'c1', source: { custom: 'x' } }], 'c1'],
  ['nothing that is known to have started it', [{ id: 'h', source: { subagent: 'review' } }], 'unknown/h'],
])('takes the id of a Codex session from %s', async (_, metas, id) => {
  const lines = metas.map((payload) => ({ type: 'session_meta', payload }))
  const { conversation } = await readTranscript(
    `rollout-2026-11-20T09-00-00-${uuid}.jsonl`,
    jsonLines(
      7,
      { type: 'session_meta', payload: 'x' },
      { type: 'turn_context', payload: { id: 't' } },
      ...lines,
    ),
  )
  expect(conversation.sessionId).toBe(id)
})

it('leaves out what a helper of Codex copied from the session that started it', async () => {
  const source = { subagent: { thread_spawn: { parent_thread_id: 'c1' } } }
  let ordinal = 0
  const line = (type: string, payload: unknown) => ({ timestamp: 't', ordinal: ordinal++, type, payload })
  const said = (role: string, text: string) =>
    line('response_item', { type: 'message', role, content: [{ type: 'output_text', text }] })
  const { conversation, turns } = await readTranscript(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines(
      line('session_meta', { id: 'h1', cwd: '/helper', source, subagent_history_start_ordinal: 4 }),
      line('session_meta', { id: 'c1', cwd: '/dev', subagent_history_start_ordinal: null }),
      said('user', 'fix the pool'),
      said('assistant', 'I ask a helper.'),
      said('user', 'look at the pool'),
      said('assistant', 'It leaks.'),
    ),
  )
  expect(conversation).toMatchObject({ sessionId: 'c1/h1', facts: { project: '/helper' } })
  expect(turns).toEqual(['user: look at the pool', 'assistant: It leaks.'])
})

it.each([
  [{ parent_thread_id: 'c1' }, { sessionId: 'c1/h1', parent: 'c1' }],
  [{ thread_source: 'subagent' }, { sessionId: 'unknown/h1', parent: 'unknown' }],
  [{ thread_source: 'user', forked_from_id: 'c1' }, { sessionId: 'h1' }],
])('tells a helper of Codex by what started it: %o', async (about, identity) => {
  const { conversation } = await readTranscript(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines({ type: 'session_meta', payload: { id: 'h1', ...about } }),
  )
  expect(conversation).toMatchObject(identity)
  expect('parent' in conversation).toBe('parent' in identity)
})

it('calls a Codex session that names none like its file', async () => {
  const line = { type: 'turn_context', payload: {} }
  const { conversation } = await readTranscript('rollout.jsonl-of-ana.jsonl', jsonLines(line))
  expect(conversation.sessionId).toBe('rollout.jsonl-of-ana')
})

it('reads when something was said in a Codex session, where it worked first, and what it cannot read', async () => {
  const said = (timestamp: string, text: string) => ({
    timestamp,
    type: 'response_item',
    payload: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
  })
  const { conversation, messages } = await readTranscript(
    'rollout-x.jsonl',
    jsonLines(
      { type: 'session_meta', payload: { id: 'c1', cwd: 7 } },
      { type: 'turn_context', payload: { cwd: '/home/dev/api' } },
      { type: 'turn_context', payload: { cwd: '/home/dev/web' } },
      said('2026-11-20T09:00:00Z', 'fixed'),
      said('soon', 'and tested'),
      'a text',
      { type: 'response_item', payload: null },
    ),
  )
  expect(messages.map(({ at }) => at)).toEqual(['2026-11-20T09:00:00.000Z', undefined])
  expect(messages[1]).not.toHaveProperty('at')
  expect(conversation.facts).toMatchObject({
    project: '/home/dev/api',
    skipped: { 'line that is not a message': 2 },
  })
})

it('takes nothing for a summary but what the agent said just before a compaction of Codex', async () => {
  const said = (role: string, ...texts: string[]) => ({
    type: 'response_item',
    payload: { type: 'message', role, content: texts.map((text) => ({ type: 'input_text', text })) },
  })
  const told = (message: unknown) => ({ type: 'compacted', payload: { message } })
  const { turns } = await readTranscript(
    'rollout-x.jsonl',
    jsonLines(
      said('user', 'The pool leaked.'),
      told('Summary:\nThe pool leaked.'),
      said('assistant', ' The pool ', ' leaked. '),
      told('Summary:\nThe pool \n leaked.'),
      said('assistant', 'done'),
      told(7),
      { type: 'response_item', payload: { type: 'local_shell_call', call_id: '1', action: {} } },
      told('Summary: none'),
    ),
  )
  expect(turns).toEqual([
    'user: The pool leaked.',
    'assistant: (result) [compacted]',
    'assistant: done',
    'assistant: (uses shell)',
  ])
})

it('tells the messages of a Codex session apart by all that was said, and gives them the same ids when it goes on', async () => {
  const item = (payload: unknown) => ({ timestamp: 't', type: 'response_item', payload })
  const said = (role: string, text: string) =>
    item({ type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] })
  const lines = [
    said('user', 'why does it leak?'),
    item({ type: 'web_search_call', action: { type: 'search', query: 'x' } }),
    item({ type: 'web_search_call', action: { type: 'search', query: 'x' } }),
    said('user', '<hook_prompt>Go on.</hook_prompt>'),
    item({ type: 'function_call', call_id: '1', name: 'shell', arguments: '{"command":"npm test"}' }),
    { timestamp: 't', type: 'event_msg', payload: { type: 'exec_command_end', call_id: '1', exit_code: 1 } },
    item({ type: 'function_call_output', call_id: '1', output: 'failed' }),
    said('assistant', 'The pool leaks.'),
    { timestamp: 't', type: 'compacted', payload: { message: 'Summary: The pool leaks.' } },
    said('user', 'fix it'),
  ]
  const idsOf = async (part: unknown[]): Promise<string[]> => {
    const { messages } = await readTranscript('rollout-x.jsonl', jsonLines(...part))
    return messages.map(({ id }) => id)
  }
  const all = await idsOf(lines)
  expect(new Set(all).size).toBe(8)
  for (let count = 1; count < lines.length; count++) {
    const ids = await idsOf(lines.slice(0, count))
    expect(ids).toEqual(all.slice(0, ids.length))
  }
  const withoutSearches = await idsOf(lines.toSpliced(1, 2))
  expect(withoutSearches.slice(1).filter((id) => all.includes(id))).toEqual([])
})
it.each([
  ['a spawned one', { source: { subagent: { thread_spawn: { parent_thread_id: 'p' } } } }],
  ['a later form', { parent_thread_id: 'p', source: { subagent: { thread_spawn: {} } } }],
  ['a guardian', { session_id: 'p', source: { subagent: { other: 'guardian' } } }],
])('knows the helpers of a Codex session: %s', async (_, meta) => {
  const { conversation } = await readTranscript(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines({ timestamp: 't', type: 'session_meta', payload: { id: 'h', ...meta } }),
  )
  expect(conversation).toMatchObject({ sessionId: 'p/h', parent: 'p' })
})

it.each([
  ['its session', { session_id: 's', parent_thread_id: 'p' }, 's/p'],
  ['its own id for a session', { session_id: 'h', parent_thread_id: 'p' }, 'p'],
])("names the helper of a Codex session's helper after both: %s", async (_, meta, parent) => {
  const { conversation } = await readTranscript(
    'rollout-2026-11-20T09-00-00-x.jsonl',
    jsonLines({
      timestamp: 't',
      type: 'session_meta',
      payload: { id: 'h', ...meta, source: { subagent: { thread_spawn: {} } } },
    }),
  )
  expect(conversation).toMatchObject({ sessionId: `${parent}/h`, parent })
})

describe('the title of a Codex session', () => {
  async function titleOf(folder: string, meta: Record<string, unknown>, index?: string) {
    const home = await temporaryFolder()
    const path = join(home, folder, 'rollout-2026-11-20T09-00-00-x.jsonl')
    await mkdir(dirname(path), { recursive: true })
    const prompt = (text: string) => ({
      type: 'response_item',
      payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    })
    const begun = { type: 'session_meta', payload: meta }
    await writeFile(path, jsonLines(begun, prompt('fix it\n\nnow please'), prompt('Calm seas?')))
    if (index !== undefined) await writeFile(join(home, 'session_index.jsonl'), index)
    const conversation = await openTranscript(path)
    await messagesOf(conversation)
    return conversation.facts.title
  }
  const named = (id: string, name: string) => ({ id, thread_name: name, updated_at: 't' })
  const index = jsonLines(named('c1', 'First'), named('c1', ' Calm seas '), named('c2', 'Another'))

  it.each(['sessions/2026/11/20', 'archived_sessions'])('is its last name: in %s', async (folder) => {
    expect(await titleOf(folder, { id: 'c1' }, `${index}half a li`)).toBe('Calm seas')
  })

  it('is a name that was given after another session was read', async () => {
    const home = await temporaryFolder()
    const titles: (string | undefined)[] = []
    for (const [id, names] of [
      ['c1', index],
      ['c3', `${index}${jsonLines(named('c3', 'Later'))}`],
      ['c2', index],
    ] as const) {
      await writeFile(join(home, 'session_index.jsonl'), names)
      titles.push(await sessionName(join(home, 'sessions/rollout-2026-11-20T09-00-00-x.jsonl'), id))
    }
    expect(titles).toEqual(['Calm seas', 'Later', 'Another'])
  })

  it.each([
    ['a session without a name', 'sessions/2026/11/20', { id: 'c3' }, index],
    ['a version that keeps no names', 'sessions/2026/11/20', { id: 'c1' }, undefined],
    ['a rollout that lies elsewhere', 'elsewhere', { id: 'c1' }, index],
    [
      'a name that is the first prompt',
      'sessions',
      { id: 'c1' },
      jsonLines(named('c1', 'fix it now please')),
    ],
    ['a name that is its beginning', 'sessions', { id: 'c1' }, jsonLines(named('c1', 'fix it now...'))],
    ['a helper', 'sessions', { id: 'c1', source: { subagent: {} } }, index],
  ])('is missing for %s', async (_, folder, meta, names) => {
    expect(await titleOf(folder, meta, names)).toBeUndefined()
  })
})
