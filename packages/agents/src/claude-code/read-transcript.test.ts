import { expect, it } from 'vitest'
import { jsonLines, messagesOf, outline, temporaryFile } from '../../test/support.ts'
import { readClaudeCodeTranscript } from './read-transcript.ts'

const user = (uuid: string, content: unknown, more: object = {}) => ({
  type: 'user',
  uuid,
  sessionId: 's1',
  timestamp: '2026-11-20T09:00:00.000Z',
  message: { role: 'user', content },
  ...more,
})
const assistant = (uuid: string, content: unknown, more: object = {}) => ({
  type: 'assistant',
  uuid,
  sessionId: 's1',
  timestamp: '2026-11-20T09:00:05.000Z',
  message: { id: `msg-${uuid}`, role: 'assistant', content },
  ...more,
})

async function read(content: string | Uint8Array, name = 'session.jsonl') {
  const conversation = await readClaudeCodeTranscript(await temporaryFile(name, content))
  const messages = await messagesOf(conversation)
  return { conversation, messages, outline: outline(messages) }
}

it('reads what both sides said with ids and times, and facts about the session', async () => {
  const { conversation, messages } = await read(
    jsonLines(
      user('u1', 'why does the pool leak?', { cwd: '/home/dev/api' }),
      assistant('a1', [
        { type: 'thinking', thinking: 'look at close()', signature: 'x' },
        { type: 'text', text: 'It never closes.' },
      ]),
      { type: 'ai-title', aiTitle: 'Pool leak', sessionId: 's1' },
      { type: 'summary', summary: 'Older name', leafUuid: 'a1' },
    ),
  )
  expect(conversation).toMatchObject({
    sessionId: 's1',
    facts: { title: 'Pool leak', project: '/home/dev/api', skipped: {} },
  })
  expect(conversation.parent).toBeUndefined()
  expect(messages).toEqual([
    {
      id: 'u1',
      role: 'user',
      at: '2026-11-20T09:00:00.000Z',
      content: [{ type: 'text', text: 'why does the pool leak?' }],
    },
    {
      id: 'a1',
      role: 'assistant',
      at: '2026-11-20T09:00:05.000Z',
      content: [
        { type: 'thinking', text: 'look at close()' },
        { type: 'text', text: 'It never closes.' },
      ],
    },
  ])
})

it('takes no title that the host wrote for another session', async () => {
  const own = 'a1b2c3d4-0000-4000-8000-000000000001'
  const titleOf = async (...lines: object[]) =>
    (await read(jsonLines(...lines), `${own}.jsonl`)).conversation.facts.title
  const said = user('u1', 'why does the pool leak?', { sessionId: own })
  const ofOther = { type: 'summary', summary: 'Move the logins', leafUuid: 'of-another-session' }
  expect(await titleOf(ofOther, said)).toBeUndefined()
  expect(await titleOf(ofOther, { type: 'summary', summary: 'Pool leak', leafUuid: 'u1' }, said)).toBe(
    'Pool leak',
  )
  expect(
    await titleOf(
      said,
      { type: 'custom-title', customTitle: 'Pool leak', sessionId: own },
      { type: 'custom-title', customTitle: 'Trash', sessionId: 'another' },
    ),
  ).toBe('Pool leak')
})

it('counts tool results as the assistant’s, and splits a line that holds a result and speech', async () => {
  const { messages, outline } = await read(
    jsonLines(
      assistant('a1', [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'npm test' } }]),
      user('u1', [{ type: 'tool_result', tool_use_id: 't1', content: '1 failing', is_error: true }]),
      user('u2', [
        {
          type: 'tool_result',
          tool_use_id: 't1',
          content: [{ type: 'text', text: 'ok' }, { type: 'image' }],
        },
        { type: 'text', text: 'stop here' },
      ]),
    ),
  )
  expect(outline).toEqual([
    'assistant: (uses Bash)',
    'assistant: (result, failed) 1 failing',
    'assistant: (result) ok\n[image]',
    'user: stop here',
  ])
  expect(new Set(messages.map((message) => message.id)).size).toBe(4)
})

it('leaves out what the host injected: meta lines, compaction summaries, reminders', async () => {
  const { outline } = await read(
    jsonLines(
      user('u1', 'Skill text', { isMeta: true }),
      user('u6', 'Skill text', { turnCompanion: true }),
      user('u7', 'Shown to the person', { isVisibleInTranscriptOnly: true }),
      { type: 'system', subtype: 'compact_boundary', uuid: 'b1', content: 'Conversation compacted' },
      user('u2', 'This session is being continued …', { isCompactSummary: true }),
      user('u3', '<system-reminder>\nBe brief.\n</system-reminder>\nadd a test'),
      user('u4', '<system-reminder>only this</system-reminder>'),
    ),
  )
  expect(outline).toEqual(['user: add a test'])
})

it('keeps slash commands and shell escapes as they were typed, their output as output', async () => {
  const { outline } = await read(
    jsonLines(
      user(
        'u1',
        '<command-message>plan</command-message>\n<command-name>/plan</command-name>\n<command-args>the\nmigration</command-args>',
      ),
      user('u2', '<command-name>clear</command-name><command-args></command-args>'),
      user('u3', '<bash-input>git status</bash-input>'),
      user('u4', '<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>'),
      {
        type: 'system',
        subtype: 'local_command',
        uuid: 's1',
        content: '<local-command-stdout>Kept model</local-command-stdout>',
      },
    ),
  )
  expect(outline).toEqual([
    'user: /plan the\nmigration',
    'user: /clear',
    'user: ! git status',
    'assistant: (result) clean',
    'assistant: (result) Kept model',
  ])
})

it('reads a background task’s notification as output, not as speech', async () => {
  const { outline } = await read(
    jsonLines(
      user(
        'u1',
        '<task-notification>\n<task-id>b1</task-id>\n<summary>Tests completed</summary>\n</task-notification>\nRead the output file to retrieve the result: /tmp/b1.output',
      ),
      user('u2', '<task-notification><summary>Done</summary></task-notification>\nand now push'),
      user('u3', '<task-notification>\nThe build failed.\n</task-notification>'),
    ),
  )
  expect(outline).toEqual([
    'assistant: (result) Tests completed\nRead the output file to retrieve the result: /tmp/b1.output',
    'assistant: (result) Done',
    'user: and now push',
    'assistant: (result) The build failed.',
  ])
})

it('reads as output the answers that the host wrote itself, not one that was interrupted', async () => {
  const synthetic = (id: string, text: string, more = {}) => {
    const message = { role: 'assistant', model: '<synthetic>', content: [{ type: 'text', text }] }
    return { ...assistant(id, []), message, isApiErrorMessage: false, ...more }
  }
  const { outline } = await read(
    jsonLines(
      synthetic('a1', 'It never'),
      synthetic('a2', 'No response requested.'),
      synthetic('a3', 'API Error: 529 Overloaded', { isApiErrorMessage: true }),
      assistant('a4', [{ type: 'text', text: 'No response requested.' }]),
    ),
  )
  expect(outline).toEqual([
    'assistant: It never',
    'assistant: (result) No response requested.',
    'assistant: (result) API Error: 529 Overloaded',
    'assistant: No response requested.',
  ])
})

it('reads as output that a person interrupted the agent, which the host says in the person’s place', async () => {
  const { outline } = await read(
    jsonLines(
      user('u1', [{ type: 'text', text: '[Request interrupted by user]' }]),
      user('u2', [{ type: 'text', text: '[Request interrupted by user for tool use]' }]),
      user('u3', 'what does “[Request interrupted by user]” mean?'),
    ),
  )
  expect(outline).toEqual([
    'assistant: (result) [Request interrupted by user]',
    'assistant: (result) [Request interrupted by user for tool use]',
    'user: what does “[Request interrupted by user]” mean?',
  ])
})

it('takes what other agents and tasks wrote for output, and an unknown origin for a person', async () => {
  const { outline: turns } = await read(
    jsonLines(
      user('u1', 'fix it', { origin: { kind: 'human' } }),
      user('u2', 'I am done with the tests', { origin: { kind: 'peer', from: 'tester' } }),
      user('u3', 'from a new kind of keyboard', { origin: { kind: 'telepathy' } }),
      {
        type: 'attachment',
        uuid: 'u4',
        sessionId: 's1',
        attachment: { type: 'queued_command', prompt: 'look at the log', origin: { kind: 'observer' } },
      },
    ),
  )
  expect(turns).toEqual([
    'user: fix it',
    'assistant: (result) I am done with the tests',
    'user: from a new kind of keyboard',
    'assistant: (result) look at the log',
  ])
})

it('reads each prompt typed while the agent worked exactly once, however the host logged it', async () => {
  const operation = (name: string, content?: string) => ({
    type: 'queue-operation',
    operation: name,
    timestamp: '2026-11-20T09:01:00.000Z',
    sessionId: 's1',
    content,
  })
  const attachment = (uuid: string, prompt: unknown) => ({
    type: 'attachment',
    uuid,
    attachment: { type: 'queued_command', prompt },
  })
  const { conversation, messages, outline } = await read(
    jsonLines(
      operation('enqueue', 'only in the queue'),
      operation('enqueue', 'and one more'),
      operation('remove'),
      operation('enqueue', 'logged by an attachment after'),
      operation('remove', 'logged by an attachment after'),
      attachment('q1', 'logged by an attachment after'),
      operation('enqueue', 'logged as of a task after'),
      operation('remove'),
      user('q3', 'logged as of a task after', { origin: { kind: 'task-notification' } }),
      operation('enqueue', 'logged by an attachment before'),
      attachment('q2', [{ type: 'text', text: 'logged by an attachment before' }]),
      operation('remove'),
      operation('enqueue', 'sent as the next turn'),
      operation('dequeue'),
      user('u1', 'sent as the next turn'),
      operation('enqueue', 'taken back to edit'),
      operation('popAll'),
      operation('enqueue', 'sent with a picture'),
      operation('dequeue', 'sent with a picture'),
      user('u2', [{ type: 'text', text: 'sent with a picture' }, { type: 'image' }]),
      operation('enqueue', 'never sent'),
      { type: 'attachment', uuid: 'x', attachment: { type: 'todo_reminder', content: 'noise' } },
    ),
  )
  expect(outline).toEqual([
    'user: only in the queue',
    'user: and one more',
    'user: logged by an attachment after',
    'user: logged as of a task after',
    'user: logged by an attachment before',
    'user: sent as the next turn',
    'user: sent with a picture | [image]',
  ])
  expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
  expect(conversation.facts.skipped).toEqual({ 'queued prompt that never reached the agent': 1 })
})

it('reads a repeated uuid once, but not in place of the sound copy of a damaged line', async () => {
  const { outline } = await read(
    jsonLines(
      user('u1', 'hello'),
      user('u1', 'hello'),
      { type: 'user', uuid: 'u2', message: 'error' },
      user('u2', 'sound copy'),
    ),
  )
  expect(outline).toEqual(['user: hello', 'user: sound copy'])
})

it('reads a line behind what the host had reserved of the file', async () => {
  const { outline, conversation } = await read(
    `${jsonLines(user('u1', 'fix it'))}\0\0\0${jsonLines(user('u2', 'and test it'))}\0\0`,
  )
  expect(outline).toEqual(['user: fix it', 'user: and test it'])
  expect(conversation.facts.skipped).toEqual({})
})

it('passes over damaged lines and counts them by kind', async () => {
  const { conversation, outline } = await read(
    `${jsonLines(user('u1', 'before'))}{"type":"user","uu\n"massive error"\n42\n\n${jsonLines(
      { silly: 'this' },
      { type: 'brand-new-kind', payload: 1 },
      { type: 'assistant', uuid: 'a0' },
      assistant('a1', [{ type: 'hologram' }, { type: 'text', text: 'after' }]),
    )}{"type":"user","uuid":"u9","mess`,
  )
  expect(outline).toEqual(['user: before', 'assistant: after'])
  expect(conversation.facts.skipped).toEqual({
    'unreadable line': 1,
    'line that is not a message': 4,
    'unrecognised content block': 1,
    'half-written line': 1,
  })
})

it('tolerates a byte order mark, CRLF, a missing last newline and invalid UTF-8', async () => {
  const text = `\uFEFF${JSON.stringify(user('u1', 'with mark'))}\r\n${JSON.stringify(user('u2', 'bad: X'))}\r\n${JSON.stringify(user('u3', 'last'))}`
  const bytes = Buffer.from(text)
  bytes[bytes.indexOf('X')] = 0xff
  const { conversation, outline } = await read(bytes)
  expect(outline).toEqual(['user: with mark', 'user: bad: \uFFFD', 'user: last'])
  expect(conversation.facts.skipped).toEqual({ 'line with invalid UTF-8, read with replacements': 1 })
})

it('passes over a line above the size limit without holding it', async () => {
  const path = await temporaryFile('s.jsonl', jsonLines(user('u1', 'x'.repeat(5000)), user('u2', 'short')))
  const conversation = await readClaudeCodeTranscript(path, { maxLineBytes: 1000, chunkBytes: 64 })
  expect(outline(await messagesOf(conversation))).toEqual(['user: short'])
  expect(conversation.facts.skipped).toEqual({ 'line over the size limit': 1 })
})

it('accepts missing, numeric and malformed times', async () => {
  const { messages } = await read(
    jsonLines(
      user('u1', 'a', { timestamp: undefined }),
      user('u2', 'b', { timestamp: 1_793_000_000_000 }),
      user('u3', 'c', { timestamp: 'yesterday' }),
    ),
  )
  expect(messages.map((message) => message.at)).toEqual([undefined, '2026-10-26T07:33:20.000Z', undefined])
})

it('names a helper’s conversation after its session and itself', async () => {
  const { conversation, outline } = await read(
    jsonLines(
      user('u1', 'explore the code', { isSidechain: true, agentId: 'a77' }),
      assistant('a1', 'done', { isSidechain: true, agentId: 'a77' }),
    ),
    'agent-a77.jsonl',
  )
  expect(conversation).toMatchObject({ sessionId: 's1/a77', parent: 's1' })
  expect(outline).toEqual(['user: explore the code', 'assistant: done'])
  const nameless = await read(jsonLines(user('u1', 'explore', { isSidechain: true })), 'agent-a78.jsonl')
  expect(nameless.conversation.sessionId).toBe('s1/a78')
})

it('does not take a helper’s prompt inside a session’s own transcript for a person’s words', async () => {
  const { conversation, outline } = await read(
    jsonLines(user('u1', 'start'), user('u2', 'helper, look around', { isSidechain: true })),
  )
  expect(conversation.parent).toBeUndefined()
  expect(outline).toEqual(['user: start', 'assistant: helper, look around'])
})

it('takes what another agent says for the prompt of a helper, and in a session for no words of a person', async () => {
  const told = user('u1', '<teammate-message teammate_id="lead">look around</teammate-message>')
  expect((await read(jsonLines(user('u0', 'start'), told))).outline).toEqual([
    'user: start',
    'assistant: (result) look around',
  ])
  const ofHelper = { ...told, isSidechain: true, agentId: 'a77' }
  expect((await read(jsonLines(ofHelper), 'agent-a77.jsonl')).outline).toEqual(['user: look around'])
})

it('takes the session id from the lines, and from the file name when that is an id or nothing else is', async () => {
  const id = '258c7280-ae70-4798-800f-63464d01a85d'
  expect((await read(jsonLines(user('u1', 'a')))).conversation.sessionId).toBe('s1')
  expect((await read(jsonLines(user('u1', 'a')), `${id}.jsonl`)).conversation.sessionId).toBe(id)
  expect((await read(jsonLines({ type: 'mode' }), 'mine.jsonl')).conversation.sessionId).toBe('mine')
  const helped = jsonLines(user('u1', 'helper, look around', { isSidechain: true }), user('u2', 'a'))
  const { conversation } = await read(helped, `${id}.jsonl`)
  expect([conversation.sessionId, conversation.parent]).toEqual([id, undefined])
})

it('says that a missing file is missing, with its path', async () => {
  await expect(readClaudeCodeTranscript('/nowhere/s.jsonl')).rejects.toMatchObject({
    code: 'MEMORY_NOT_FOUND',
    details: { path: '/nowhere/s.jsonl' },
  })
})
