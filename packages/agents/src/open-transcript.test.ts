import { expect, it } from 'vitest'
import { jsonLines, messagesOf, outline, temporaryFile, temporaryFolder } from '../test/support.ts'
import { readNeutralTranscript } from './neutral/read-transcript.ts'
import { openTranscript } from './open-transcript.ts'

async function open(name: string, content: string) {
  const conversation = await openTranscript(await temporaryFile(name, content))
  return { conversation, outline: outline(await messagesOf(conversation)) }
}

it('recognises a host’s transcript by its content, also behind damaged lines and under another name', async () => {
  const { conversation, outline } = await open(
    'notes.txt',
    `{"half\n${jsonLines(
      { type: 'file-history-snapshot', messageId: 'm' },
      { type: 'user', uuid: 'u1', sessionId: 's1', message: { role: 'user', content: 'hi' } },
    )}`,
  )
  expect(conversation.sessionId).toBe('s1')
  expect(outline).toEqual(['user: hi'])
})

it('reads JSON Lines with roles, a session line, tools and block lists', async () => {
  const { conversation, outline } = await open(
    'talk.jsonl',
    jsonLines(
      { session_id: 'abc', title: 'A talk', cwd: '/src' },
      { role: 'system', content: 'You are helpful' },
      { role: 'user', content: 'hello', at: '2026-01-01T00:00:00Z', id: 'm1' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 't', function: { name: 'ls', arguments: '{"path":"src/a.ts"}' } }],
      },
      { role: 'tool', tool_call_id: 't', content: 'a.ts' },
      { role: 'assistant', content: [{ type: 'text', text: 'one file' }] },
      { note: 1 },
    ),
  )
  expect(conversation).toMatchObject({
    sessionId: 'abc',
    facts: { title: 'A talk', project: '/src', skipped: { 'line that is not a message': 1 } },
  })
  expect(outline).toEqual([
    'user: hello',
    'assistant: (uses ls)',
    'assistant: (result) a.ts',
    'assistant: one file',
  ])
})

it('reads roles in capitals, calls of tools without content, and times under other names', async () => {
  const lines = jsonLines(
    { role: 'User', content: 'hello', created_at: 1_767_225_600 },
    { role: 'assistant', tool_calls: [{ id: 't', function: { name: 'ls', arguments: '{}' } }] },
  )
  const messages = await messagesOf(await openTranscript(await temporaryFile('talk.jsonl', lines)))
  expect(outline(messages)).toEqual(['user: hello', 'assistant: (uses ls)'])
  expect(messages[0]?.at).toBe('2026-01-01T00:00:00.000Z')
})

it.each(['a|b\nc', 'x'.repeat(1000), '\ud800', `${'ghp_'}${'a1B2'.repeat(9)}`])(
  'names a session by its file whose id fits no key: %j',
  async (id) => {
    const path = await temporaryFile(
      'talk.jsonl',
      jsonLines({ session_id: id }, { role: 'user', content: 'hi' }),
    )
    expect(await openTranscript(path)).toMatchObject({ sessionId: 'talk', isNamedByFile: true })
  },
)

it.each(['constructor', 'toString', 'critic'])(
  'takes no role that nobody has for a message: %s',
  async (role) => {
    const lines = jsonLines({ role, content: 'ping' }, { role, content: 'pong' })
    await expect(open('talk.jsonl', lines)).rejects.toMatchObject({ code: 'MEMORY_INVALID_INPUT' })
  },
)

it('reads a JSON list and an object with messages, on one line, on many, or with a message on each', async () => {
  const messages = [
    { role: 'human', content: 'ping' },
    { role: 'ai', content: 'pong' },
  ]
  const list = `[\n${messages.map((message) => JSON.stringify(message)).join(',\n')}\n]`
  for (const text of [
    list,
    `{"session_id": "x", "messages": ${list}}`,
    JSON.stringify(messages),
    JSON.stringify(messages, null, 2),
    JSON.stringify({ session_id: 'x', messages }, null, 2),
    JSON.stringify({ session_id: 'x', messages }),
  ]) {
    const { conversation, outline } = await open('talk.json', text)
    expect(outline).toEqual(['user: ping', 'assistant: pong'])
    expect(conversation.sessionId).toBe(text.includes('session_id') ? 'x' : 'talk')
  }
})

it('takes no list that is damaged for its last message', async () => {
  const message = JSON.stringify({ role: 'user', content: 'ping' })
  for (const text of [`[\n${message},\n${message}\n`, `[${message},\n${message}\n`]) {
    await expect(openTranscript(await temporaryFile('talk.json', text))).rejects.toMatchObject({
      code: 'MEMORY_INVALID_INPUT',
      message: expect.stringContaining('begins as a JSON list, and is damaged or above 64 MB'),
    })
  }
})

it('reads a JSON list that is one line longer than lines of JSON Lines may be', async () => {
  const text = JSON.stringify([{ role: 'user', content: 'x'.repeat(17 * 1024 * 1024) }])
  expect((await open('talk.json', text)).outline).toHaveLength(1)
})

it('tells a result in a person’s message from what the person said', async () => {
  const content = [
    { type: 'tool_result', tool_use_id: 't', content: 'a.ts' },
    { type: 'text', text: 'go on' },
  ]
  const path = await temporaryFile('talk.jsonl', jsonLines({ role: 'user', id: 'm1', content }))
  const messages = await messagesOf(await openTranscript(path))
  expect(outline(messages)).toEqual(['assistant: (result) a.ts', 'user: go on'])
  expect(messages.map(({ id }) => id)).toEqual(['m1', 'm1#said'])
})

it('reads markdown with bytes that are no UTF-8, and counts their lines', async () => {
  const text = Buffer.concat([
    Buffer.from('User: ping '),
    Buffer.of(0xff),
    Buffer.from('\nAssistant: pong\n'),
  ])
  const conversation = await openTranscript(await temporaryFile('talk.md', text))
  expect(outline(await messagesOf(conversation))).toEqual(['user: ping \ufffd', 'assistant: pong'])
  expect(conversation.facts.skipped).toEqual({ 'line with invalid UTF-8, read with replacements': 1 })
})

it.each([
  ['## User\n\nping\n\n## Assistant\n\npong\n\n# Not a speaker\nUser: quoted\n'],
  ['# Title\n\n### User\nping\n### Assistant\npong\n\n# Not a speaker\nUser: quoted'],
  ['**User:** ping\n\n**Assistant**: pong\n\n# Not a speaker\nUser: quoted\n'],
])('reads markdown turns and keeps other headings and labels inside them', async (text) => {
  const { outline } = await open('talk.md', text)
  expect(outline).toEqual(['user: ping', 'assistant: pong\n\n# Not a speaker\nUser: quoted'])
})

it('reads plain labels, and not those inside fenced code', async () => {
  const { outline } = await open('talk.md', 'User: ping\nmore\n\n```\nUser: no\n```\nAssistant:\npong')
  expect(outline).toEqual(['user: ping\nmore\n\n```\nUser: no\n```', 'assistant: pong'])
})

it('knows code that begins in a list, or behind a label', async () => {
  const { outline } = await open(
    'talk.md',
    'User: - ```\n  x\n  ```\nAssistant: ```\nUser: no\n```\nUser: ping',
  )
  expect(outline).toEqual(['user: - ```\n  x\n  ```', 'assistant: ```\nUser: no\n```', 'user: ping'])
})

it('reads turns behind an introduction, where both speak again', async () => {
  const head = '# Leak\n\n_Exported on 5 May_\n\n---\n\n'
  const text = `${head}**User**\n\nping\n\n**Cursor**\n\npong\n\n**User**\n\n**bold** end\n\n**Cursor**\n\ndone\n`
  const { conversation, outline } = await open('talk.md', text)
  expect(outline).toEqual(['user: ping', 'assistant: pong', 'user: **bold** end', 'assistant: done'])
  expect(conversation.facts).toMatchObject({ title: 'Leak', skipped: { 'line before the first speaker': 1 } })
})

it.each([
  ['one speaker', '# Car\n\nBought in May.\n\nModel: Tesla 3\nColour: red\n'],
  ['one role', 'Model: Tesla 3\nAgent: Ana\n\nCharged at home.\n'],
  ['text before the first speaker', 'We met in May.\n\nUser: ping\n\nAssistant: pong\n'],
  ['labels in its text', 'Cars of May.\n\nModel: T3\nUser: Ana\n\nModel: T4\nUser: Ada\n'],
  ['labels of two styles', '**User:** Ana\n\nModel: Tesla 3\n'],
  ['two titles', '# Car\n# Notes\n\nUser: ping\nAssistant: pong\n'],
  ['a speaker in its front matter', '---\nuser: ana\n---\nAgent: pong\n'],
])('takes a note with %s for no conversation', async (_, text) => {
  await expect(open('note.md', text)).rejects.toMatchObject({ code: 'MEMORY_INVALID_INPUT' })
})

it('reads markdown turns behind front matter, a title and rules', async () => {
  const { conversation, outline } = await open(
    'talk.md',
    '--- \nuser: ana\n# made by hand\n--- \n# Ping\n\n---\n\nUser: ping\n\nAssistant: pong\n',
  )
  expect(outline).toEqual(['user: ping', 'assistant: pong'])
  expect(conversation.facts.title).toBe('Ping')
  const ruled = await open('talk.md', '---\n\n## User\n\nping\n\n---\n\n## Assistant\n\npong\n')
  expect(ruled.outline).toEqual(['user: ping\n\n---', 'assistant: pong'])
})

it('counts in a JSON document what is no message', async () => {
  const { conversation, outline } = await open(
    'talk.json',
    JSON.stringify([{ role: 'user', content: 'ping' }, 7, { role: 'critic', content: 'no' }]),
  )
  expect(outline).toEqual(['user: ping'])
  expect(conversation.facts.skipped).toEqual({ 'line that is not a message': 2 })
})

it('passes over calls of tools that name none', async () => {
  const calls = [null, { id: 't' }, { function: { name: 7 } }, { function: { name: 'ls' } }]
  const { outline } = await open('talk.jsonl', jsonLines({ role: 'assistant', tool_calls: calls }))
  expect(outline).toEqual(['assistant: (uses ls)'])
})

it('passes over what a model thought and nobody may read, and counts a block of no known type', async () => {
  const content = [
    { type: 'redacted_thinking', data: 'x' },
    { type: 'hologram' },
    { type: 'text', text: 'pong' },
  ]
  const { conversation, outline } = await open('talk.jsonl', jsonLines({ role: 'assistant', content }))
  expect(outline).toEqual(['assistant: pong'])
  expect(conversation.facts.skipped).toEqual({ 'unrecognised content block': 1 })
})

it('reads content that is one block, and counts what is neither text nor blocks', async () => {
  const { conversation, outline } = await open(
    'talk.jsonl',
    jsonLines(
      { role: 'user', content: { type: 'text', text: 'hello' } },
      { role: 'assistant', content: { text: 'good day' } },
      { role: 'user', content: 5 },
    ),
  )
  expect(outline).toEqual(['user: hello', 'assistant: good day'])
  expect(conversation.facts.skipped).toEqual({ 'unrecognised content block': 1 })
})

it('passes over a line of markdown above the size limit, and counts it', async () => {
  const { conversation, outline } = await open(
    'talk.md',
    `User: ping\n${'x'.repeat(17 * 1024 * 1024)}\nmore\nAssistant: pong\n`,
  )
  expect(outline).toEqual(['user: ping\nmore', 'assistant: pong'])
  expect(conversation.facts.skipped).toEqual({ 'line over the size limit': 1 })
})

it('reads no JSON list above 64 MB', async () => {
  const message = '{"role":"user","content":"ping"}'
  const path = await temporaryFile('talk.json', `[${message}${' '.repeat(64 * 1024 * 1024)}]`)
  await expect(openTranscript(path)).rejects.toThrow('is damaged or above 64 MB')
})

it('takes no transcript of a host for one that belongs to none', async () => {
  const line = { role: 'user', content: 'ping' }
  const neutral = await readNeutralTranscript(await temporaryFile('talk.jsonl', jsonLines(line)))
  expect(outline(await messagesOf(neutral))).toEqual(['user: ping'])
  const ofHost = { type: 'user', uuid: 'u1', sessionId: 's1', message: line }
  const path = await temporaryFile('s1.jsonl', jsonLines(ofHost))
  await expect(readNeutralTranscript(path)).rejects.toMatchObject({
    code: 'MEMORY_INVALID_INPUT',
    message: expect.stringContaining('JSON Lines with { role, content'),
    details: { path },
  })
})

it('refuses a file in no known format, and names the formats', async () => {
  for (const text of ['', 'just a note', '{"a":1}', '[1,2]', '# Heading\n\nText']) {
    const path = await temporaryFile('file.md', text)
    await expect(openTranscript(path)).rejects.toMatchObject({
      code: 'MEMORY_INVALID_INPUT',
      message: expect.stringMatching(
        /Claude Code.*opencode\.db#<id>.*conversations\.json#<id>.*JSON Lines.*markdown/,
      ),
      details: { path },
    })
  }
})

it('says what a file is that Windows PowerShell has redirected', async () => {
  for (const mark of ['fffe', 'feff']) {
    const path = await temporaryFile(
      'talk.jsonl',
      Buffer.concat([Buffer.from(mark, 'hex'), Buffer.from('{}', 'utf16le')]),
    )
    await expect(openTranscript(path)).rejects.toMatchObject({
      code: 'MEMORY_INVALID_INPUT',
      message: expect.stringContaining('is UTF-16 text'),
    })
  }
})

it('refuses a missing file and a folder', async () => {
  await expect(openTranscript('/nowhere.jsonl')).rejects.toMatchObject({ code: 'MEMORY_NOT_FOUND' })
  await expect(openTranscript(await temporaryFolder())).rejects.toMatchObject({
    code: 'MEMORY_INVALID_INPUT',
  })
})
