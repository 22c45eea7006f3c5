import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { openTranscript } from '../src/index.ts'
import { jsonLines, messagesOf, outline, readTranscript, temporaryFolder } from './support.ts'

it('reads a chat of Gemini CLI line by line', async () => {
  const { conversation, turns } = await readTranscript(
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

it.each([[{ type: 'gemini', content: 'hi' }], [{ sessionId: 'g1', projectHash: 'h' }]])(
  'knows a chat of Gemini CLI by the line %j',
  async (line) => {
    expect((await readTranscript('a.jsonl', jsonLines(line))).conversation.facts).toEqual({ skipped: {} })
  },
)

it.each([
  [{ type: 'gemini' }],
  [{ type: 'user', content: 'hi' }],
  [{ sessionId: 'g1' }],
  [{ projectHash: 'h' }],
  [{ sessionId: 'g1', messages: [{ type: 'user' }] }],
  [{ sessionId: 'g1', messages: { 0: { type: 'user', content: 'hi' } } }],
  [{ messages: [{ type: 'user', content: 'hi' }] }],
])('takes for no chat of Gemini CLI what is only %j', async (value) => {
  const refusal = { code: 'MEMORY_INVALID_INPUT' }
  await expect(readTranscript('a.jsonl', jsonLines(value))).rejects.toMatchObject(refusal)
  await expect(readTranscript('a.json', JSON.stringify(value, null, 2))).rejects.toMatchObject(refusal)
})

it('reads who said what when in Gemini CLI, also where a message has no id, and counts the rest', async () => {
  const { conversation, messages } = await readTranscript(
    'session-1.json.jsonl',
    jsonLines(
      7,
      { type: 'user', content: 'go on', timestamp: '2026-11-20T09:00:00Z' },
      { type: 'gemini', content: 'go on', timestamp: 'soon' },
      { type: 'gemini', content: 'go on' },
      { id: 'e', type: 'error', content: 'the quota is exhausted' },
      { id: 'i', type: 'info', content: 'update available' },
      { id: 's', type: 'user', content: '<state_snapshot>all of it</state_snapshot>' },
      { id: 't', type: 'user', content: [null, { text: 7 }, { text: ' ' }] },
      { $set: { summary: ' ' } },
      { $set: { directories: [7] } },
      { $set: { directories: ['/home/dev/api'] } },
      { $set: { directories: ['/home/dev/web'] } },
    ),
  )
  expect(messages).toMatchObject([
    { role: 'user', at: '2026-11-20T09:00:00.000Z', content: [{ text: 'go on' }] },
    { role: 'assistant', content: [{ text: 'go on' }] },
    { role: 'assistant', content: [{ text: 'go on' }] },
  ])
  expect(messages[1]).not.toHaveProperty('at')
  expect(new Set(messages.map(({ id }) => id)).size).toBe(3)
  expect(conversation.sessionId).toBe('session-1.json')
  expect(conversation.facts).toEqual({
    skipped: { 'line that is not a message': 1 },
    project: '/home/dev/api',
  })
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

it('takes the files that a prompt names for output, and what the host says of itself for nothing', async () => {
  const parts = (...texts: string[]) => texts.map((text) => ({ text }))
  const begin = '\n--- Content from referenced files ---'
  const file = ['\nContent from @a.md:\n', 'Be brief.', '\n--- End of content ---']
  const { turns } = await readTranscript(
    'session.jsonl',
    jsonLines(
      { sessionId: 'g1', projectHash: 'h' },
      {
        id: '1',
        type: 'user',
        content: 'This is the Gemini CLI. We are setting up the context for our chat.\n…',
      },
      { id: '2', type: 'user', content: parts('read @a.md', begin, ...file) },
      { id: '3', type: 'user', content: `and @b.md${begin}\nContent from @b.md:\nNo end.` },
      { id: '4', type: 'user', content: 'What does --- Content from referenced files --- mean?' },
      { id: '5', type: 'gemini', content: `It is${begin}\nyours.` },
    ),
  )
  expect(turns).toEqual([
    'user: read @a.md',
    'assistant: (result) Content from @a.md:\n\nBe brief.',
    'user: and @b.md',
    'assistant: (result) Content from @b.md:\nNo end.',
    'user: What does --- Content from referenced files --- mean?',
    `assistant: It is${begin}\nyours.`,
  ])
})

it('reads a chat of Gemini CLI as the log that it is', async () => {
  const message = (id: string, type: string, content: unknown, more = {}) => ({ id, type, content, ...more })
  const tool = (status: string, more = {}) => ({
    toolCalls: [{ id: 'c', name: 'shell', args: { command: 'ls' }, status, ...more }],
  })
  const { conversation, turns } = await readTranscript(
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
        [{ text: 'he wants a look', thought: true }, { text: 'I look' }],
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
  const { turns, messages } = await readTranscript(
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
      { id: '6', type: 'gemini', content: [null, { functionCall: { id: 'd', name: 'list' } }] },
      { id: '7', type: 'user', content: [{ functionResponse: { name: 'list', response: { output: 'x' } } }] },
      {
        id: '8',
        type: 'gemini',
        content: '',
        toolCalls: [null, { name: 'list' }, { name: 'list', result: 'x' }],
      },
    ),
  )
  expect(turns).toEqual([
    'user: look',
    'assistant: I look | (uses shell)',
    'assistant: (result, failed) no such folder',
    'assistant: (uses list)',
    'assistant: (uses list) | (uses list) | (result) x',
  ])
  expect(messages.map(({ id }) => id)).toEqual(['1', '2', '3', '6', '8'])
  expect(messages[1]?.content[1]).toMatchObject({ id: 'c', input: { command: 'ls' } })
  expect(messages[3]?.content[0]).toMatchObject({ id: 'd', input: null })
})

it.each([
  [{ resultDisplay: 'two files' }, 'two files'],
  [{ resultDisplay: { fileDiff: '+ a' } }, 'a.ts\nb.ts'],
  [{ resultDisplay: null }, 'a.ts\nb.ts'],
])(
  'shows the output of a tool in Gemini CLI as the person saw it, if that is a text: %j',
  async (shown, told) => {
    const result = ['a.ts', 'b.ts'].map((output) => ({ functionResponse: { response: { output } } }))
    const toolCalls = [{ name: 'list', result, ...shown }]
    const { messages } = await readTranscript(
      'a.jsonl',
      jsonLines({ type: 'gemini', content: '', toolCalls }),
    )
    expect(messages[0]?.content[1]).toMatchObject({ type: 'tool_result', content: told })
  },
)

it('reads a chat of Gemini CLI that holds nothing but what the model was given', async () => {
  const { turns } = await readTranscript(
    'session.jsonl',
    jsonLines(
      { sessionId: 'g1', projectHash: 'f' },
      { id: 'i', type: 'info', content: 'update available' },
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
    const { conversation, turns } = await readTranscript(
      'session.json',
      mark + JSON.stringify({ sessionId: 'g1', messages }, null, 2),
    )
    expect(conversation.sessionId).toBe('g1')
    expect(turns).toEqual(['user: hello', 'assistant: hi'])
  }
})

it('knows title and project of a chat of Gemini CLI that is one document, and counts what is no message', async () => {
  const messages = [{ type: 'user', content: 'hello' }, 7]
  const document = { sessionId: 'g1', summary: ' A look ', messages }
  const { conversation } = await readTranscript('p/chats/a.json', JSON.stringify(document, null, 2))
  expect(conversation.facts).toEqual({ skipped: { 'line that is not a message': 1 }, title: 'A look' })
  const path = join(await temporaryFolder(), 'p/chats/a.json')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, JSON.stringify({ ...document, directories: ['/home/dev/web'] }, null, 2))
  expect((await openTranscript(path)).facts.project).toBe('/home/dev/web')
  await writeFile(join(dirname(path), '../.project_root'), '/home/dev/api\n')
  expect((await openTranscript(path)).facts.project).toBe('/home/dev/api')
})

it('knows the project of the helper of a Gemini session by the file of its project', async () => {
  const path = join(await temporaryFolder(), 'api/chats/g1/h1.jsonl')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, jsonLines({ sessionId: 'h1', projectHash: 'f', kind: 'subagent' }))
  await writeFile(join(dirname(path), '../../.project_root'), ' \n')
  expect((await openTranscript(path)).facts).not.toHaveProperty('project')
  await writeFile(join(dirname(path), '../../.project_root'), '/home/dev/api\n')
  expect((await openTranscript(path)).facts.project).toBe('/home/dev/api')
})

it('knows the helper of a Gemini session by its folder', async () => {
  const { conversation } = await readTranscript(
    'chats/g1/h1.jsonl',
    jsonLines(
      { sessionId: 'h1', projectHash: 'f', kind: 'subagent', directories: ['/home/dev'] },
      { id: '1', type: 'user', content: 'look into it' },
    ),
  )
  expect(conversation).toMatchObject({ sessionId: 'g1/h1', parent: 'g1', facts: { project: '/home/dev' } })
})
