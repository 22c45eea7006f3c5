import { open, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isMemoryError } from '@recall/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listImportable, openTranscript, stateOfSource } from '../src/index.ts'
import { withHoles } from './hostile.ts'
import { messagesOf, outline, temporaryFile, temporaryFolder } from './support.ts'

const claudeAi = {
  uuid: '0f0e7a52-4a5b-4a53-9f0e-0c1f0a4c1b11',
  name: 'The walrus leak',
  created_at: '2026-03-01T09:00:00.123456Z',
  updated_at: '2026-03-02T09:00:00Z',
  chat_messages: [
    {
      uuid: 'm1',
      sender: 'human',
      text: 'why does the walrus leak?',
      content: [{ type: 'text', text: 'why does the walrus leak?' }],
      created_at: '2026-03-01T09:00:01Z',
      attachments: [{ file_name: 'log.txt', extracted_content: 'ERROR: walrus' }],
    },
    {
      uuid: 'm2',
      sender: 'assistant',
      text: 'It has a hole.',
      content: [
        { type: 'thinking', thinking: 'hmm' },
        { type: 'tool_use', id: 't', name: 'web_search', input: { query: 'walrus' } },
        { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'found one' }] },
        { type: 'text', text: 'It has a hole.' },
      ],
      created_at: '2026-03-01T09:00:05Z',
      attachments: [],
    },
    { uuid: 'm3', sender: 'human', text: 'thanks' },
  ],
}

const said = (role: string, text: string, more: object = {}) => ({
  author: { role },
  content: { content_type: 'text', parts: [text] },
  create_time: 1_772_355_600,
  ...more,
})

const chatgpt = {
  title: 'Naming a narwhal',
  conversation_id: '67c2d0a4-0000-8000-9000-000000000001',
  create_time: 1_772_355_600.5,
  update_time: 1_772_359_200.25,
  current_node: 'c2',
  mapping: {
    root: { parent: null, children: ['s'], message: null },
    s: { parent: 'root', children: ['h'], message: said('system', 'be good') },
    h: {
      parent: 's',
      children: ['a'],
      message: said('user', 'a hidden thing', { metadata: { is_visually_hidden_from_conversation: true } }),
    },
    a: { parent: 'h', children: ['b1', 'b2'], message: said('user', 'name my narwhal') },
    b1: {
      parent: 'a',
      children: [],
      message: said('assistant', 'Nero, the first answer.', { create_time: 1_999_999_999 }),
    },
    b2: {
      parent: 'a',
      children: ['t'],
      message: {
        author: { role: 'assistant' },
        recipient: 'python',
        content: { content_type: 'code', text: 'names()' },
        create_time: null,
      },
    },
    t: {
      parent: 'b2',
      children: ['c'],
      message: {
        author: { role: 'tool', name: 'python' },
        content: { content_type: 'execution_output', text: 'Nila' },
      },
    },
    c: {
      parent: 't',
      children: ['c2'],
      message: said('assistant', 'Nila, then.', { create_time: 1_772_355_660.75 }),
    },
    c2: {
      parent: 'c',
      children: [],
      message: said('user', '', {
        content: {
          content_type: 'multimodal_text',
          parts: [{ content_type: 'image_asset_pointer' }, 'her picture'],
        },
      }),
    },
  },
}

const exportOf = (...conversations: unknown[]) =>
  temporaryFile('conversations.json', JSON.stringify(conversations, null, 1))

async function readAll(path: string) {
  const found = []
  for (const source of await listImportable(path)) {
    const conversation = await openTranscript(source)
    found.push({ source, conversation, messages: await messagesOf(conversation) })
  }
  return found
}

describe('an export of claude.ai', () => {
  it('is one session for each conversation, with its id, title and times', async () => {
    const other = { uuid: 'second', name: '', created_at: '2026-01-01T00:00:00Z', chat_messages: [] }
    const path = await exportOf(claudeAi, other)
    expect(await listImportable(path)).toEqual([`${path}#${claudeAi.uuid}`, `${path}#second`])
    const [first, second] = await readAll(path)
    expect(first?.conversation).toMatchObject({
      sessionId: claudeAi.uuid,
      facts: { title: 'The walrus leak', skipped: {} },
    })
    expect(outline(first?.messages ?? [])).toEqual([
      'assistant: (result) [log.txt]\nERROR: walrus',
      'user: why does the walrus leak?',
      'assistant: (thinks) hmm | (uses web_search) | (result) found one | It has a hole.',
      'user: thanks',
    ])
    expect(first?.messages.map(({ id, at }) => [id, at])).toEqual([
      ['m1#attached', '2026-03-01T09:00:01.000Z'],
      ['m1', '2026-03-01T09:00:01.000Z'],
      ['m2', '2026-03-01T09:00:05.000Z'],
      ['m3', '2026-03-01T09:00:05.000Z'],
    ])
    expect(second).toMatchObject({ conversation: { sessionId: 'second', facts: {} }, messages: [] })
    expect(second?.conversation.facts).not.toHaveProperty('title')
  })

  it('names pictures, and a document that it holds the text of once', async () => {
    const picture = { uuid: 'm1', sender: 'human', text: '', files: [{ file_name: 'leak.png' }] }
    const log = {
      uuid: 'm2',
      sender: 'human',
      text: 'and this',
      attachments: [{ file_name: 'log.txt', extracted_content: 'ERROR' }],
      files: [{ file_name: 'log.txt' }],
    }
    const [found] = await readAll(await exportOf({ ...claudeAi, chat_messages: [picture, log] }))
    expect(outline(found?.messages ?? [])).toEqual([
      'assistant: (result) [leak.png]',
      'assistant: (result) [log.txt]\nERROR',
      'user: and this',
    ])
  })
})

describe('an export of ChatGPT', () => {
  it('is one session for each conversation: its current branch, what is hidden left out', async () => {
    const [found] = await readAll(await exportOf(chatgpt))
    expect(found?.conversation).toMatchObject({
      sessionId: chatgpt.conversation_id,
      facts: { title: 'Naming a narwhal', skipped: {} },
    })
    expect(outline(found?.messages ?? [])).toEqual([
      'user: name my narwhal',
      'assistant: (uses python)',
      'assistant: (result) Nila',
      'assistant: Nila, then.',
      'user: [image]\nher picture',
    ])
    expect(found?.messages.map(({ at }) => at)).toEqual([
      '2026-03-01T09:00:00.000Z',
      '2026-03-01T09:00:00.000Z',
      '2026-03-01T09:00:00.000Z',
      '2026-03-01T09:01:00.750Z',
      '2026-03-01T09:00:00.000Z',
    ])
  })

  it('keeps a turn of nothing but a document', async () => {
    const attached = { metadata: { attachments: [{ name: 'leak.pdf', mime_type: 'application/pdf' }] } }
    const mapping = {
      a: { parent: null, message: said('user', '', attached) },
      b: { parent: 'a', message: said('user', 'what is in it?', attached) },
      c: { parent: 'b', message: said('assistant', '', attached) },
    }
    const [found] = await readAll(await exportOf({ mapping, current_node: 'c' }))
    expect(outline(found?.messages ?? [])).toEqual(['user: [document]', 'user: what is in it?'])
  })

  it('follows the branch with the latest message where none is called the current one', async () => {
    const { current_node, ...without } = chatgpt
    const [found] = await readAll(await exportOf(without))
    expect(outline(found?.messages ?? [])).toEqual([
      'user: name my narwhal',
      'assistant: Nero, the first answer.',
    ])
  })

  it('ends, and says what it has, where the tree leads in a circle', async () => {
    const mapping = {
      a: { parent: 'b', message: said('user', 'ping') },
      b: { parent: 'a', message: said('assistant', 'pong') },
    }
    const [found] = await readAll(await exportOf({ mapping, current_node: 'b' }))
    expect(outline(found?.messages ?? [])).toEqual(['user: ping', 'assistant: pong'])
  })

  it('gives a conversation without an id one that the next export keeps', async () => {
    const { conversation_id, ...nameless } = chatgpt
    const [before] = await readAll(await exportOf(nameless))
    const { c2, ...mapping } = chatgpt.mapping
    const [after] = await readAll(await exportOf({ ...nameless, title: 'Other', current_node: 'c', mapping }))
    expect(before?.conversation.sessionId).toMatch(/^chat-[0-9a-f]{24}$/)
    expect(after?.conversation.sessionId).toBe(before?.conversation.sessionId)
    const other = { ...nameless, create_time: 1_700_000_000 }
    const ids = (await readAll(await exportOf(other, nameless))).map((each) => each.conversation.sessionId)
    expect(ids).toEqual([expect.stringMatching(/^chat-[0-9a-f]{24}$/), before?.conversation.sessionId])
  })
})

it('keeps apart conversations of one id, and takes one that stands twice once', async () => {
  const other = { ...claudeAi, chat_messages: [{ sender: 'human', text: 'another thing' }] }
  const found = await readAll(await exportOf(claudeAi, other, claudeAi))
  expect(found.map(({ messages }) => messages.length)).toEqual([4, 1])
  expect(new Set(found.map(({ conversation }) => conversation.sessionId)).size).toBe(2)
})

it('replaces an id that is no name', async () => {
  const path = await exportOf({ ...claudeAi, uuid: '../../etc/passwd#\n' })
  expect(await listImportable(path)).toEqual([
    expect.stringMatching(/conversations\.json#chat-[0-9a-f]{24}$/),
  ])
})

it('finds exports in folders, beside what belongs to no conversation', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'conversations.json'), JSON.stringify([chatgpt]))
  await writeFile(join(folder, 'users.json'), JSON.stringify([{ uuid: 'u', full_name: 'Ana' }]))
  expect(await listImportable(folder)).toEqual([
    join(folder, `conversations.json#${chatgpt.conversation_id}`),
    join(folder, 'users.json'),
  ])
})

it('says of the file as a whole what to do, and of a missing conversation that it is missing', async () => {
  const path = await exportOf(claudeAi, chatgpt)
  await expect(openTranscript(path)).rejects.toMatchObject({
    code: 'MEMORY_INVALID_INPUT',
    message: expect.stringMatching(/export of 2 conversations.*import them all/),
  })
  await expect(openTranscript(`${path}#nobody`)).rejects.toMatchObject({ code: 'MEMORY_NOT_FOUND' })
  await expect(openTranscript(`${await temporaryFile('a.json', '{}')}#x`)).rejects.toMatchObject({
    code: 'MEMORY_INVALID_INPUT',
  })
})

it('lists an element that is no conversation, and one that the file breaks off in, as what cannot be read', async () => {
  const text = JSON.stringify([claudeAi, 7, chatgpt])
  const path = await temporaryFile('conversations.json', text.slice(0, -20))
  const [first, ...rest] = await listImportable(path)
  expect(await messagesOf(await openTranscript(first as string))).toHaveLength(4)
  expect(rest).toEqual([`${path}#item-2`, `${path}#item-3`])
  await expect(openTranscript(`${path}#item-2`)).rejects.toThrow(/element 2 is not a conversation/)
  await expect(openTranscript(`${path}#item-3`)).rejects.toThrow(/element 3 breaks off.*export it again/)
})

it('lists a conversation above 64 MB as what cannot be read, and the one behind it', async () => {
  const path = await temporaryFile('conversations.json', `[{"a":"`)
  const file = await open(path, 'a')
  await file.truncate(65 * 1024 * 1024)
  await file.write(`"},${JSON.stringify(claudeAi)}]`)
  await file.close()
  expect(await listImportable(path)).toEqual([`${path}#item-1`, `${path}#${claudeAi.uuid}`])
  await expect(openTranscript(`${path}#item-1`)).rejects.toMatchObject({
    code: 'MEMORY_INVALID_INPUT',
    message: expect.stringContaining('element 1 has 65 MB; a conversation may have 64 MB'),
  })
})

it('tells by each conversation whether it has changed', async () => {
  const path = await exportOf(claudeAi, chatgpt)
  const states = async () => Promise.all((await listImportable(path)).map(stateOfSource))
  const before = await states()
  expect(before.map(({ changedAt }) => new Date(changedAt).toISOString())).toEqual([
    '2026-03-02T09:00:00.000Z',
    '2026-03-01T10:00:00.250Z',
  ])
  await writeFile(path, JSON.stringify([claudeAi, { ...chatgpt, title: 'Renamed' }], null, 1))
  const after = await states()
  expect(after[0]).toEqual(before[0])
  expect(after[1]?.stamp).not.toBe(before[1]?.stamp)
})

it('reads an export of 100 MB in bounded memory', async () => {
  const path = join(await temporaryFolder(), 'conversations.json')
  const file = await open(path, 'w')
  const filler = 'x "quoted" [1] \\ é'.repeat(25_000)
  const count = 200
  await file.write('[')
  for (let i = 0; i < count; i++) {
    const messages = [
      { sender: 'human', text: `question ${i}` },
      { sender: 'assistant', text: filler },
    ]
    await file.write(`${i > 0 ? ',' : ''}${JSON.stringify({ uuid: `c${i}`, chat_messages: messages })}`)
  }
  await file.write(']')
  expect((await file.stat()).size).toBeGreaterThan(100 * 1024 * 1024)
  await file.close()
  const before = process.memoryUsage().rss
  let peak = before
  let messages = 0
  for (const source of await listImportable(path)) {
    for await (const _ of (await openTranscript(source)).messages) messages++
    peak = Math.max(peak, process.memoryUsage().rss)
  }
  expect(messages).toBe(count * 2)
  expect((peak - before) / 1024 / 1024).toBeLessThan(100)
})

it('reads or refuses whatever stands in an export, twice in the same way', async () => {
  const folder = await temporaryFolder()
  const path = join(folder, 'conversations.json')
  const read = async () => {
    const outcome = []
    for (const source of await listImportable(path)) {
      try {
        const conversation = await openTranscript(source)
        const messages = await messagesOf(conversation)
        for (const { role, content, at } of messages) {
          expect(content).not.toEqual([])
          if (role === 'user') expect(content.every(({ type }) => type === 'text')).toBe(true)
          if (at !== undefined) expect(new Date(at).toISOString()).toBe(at)
        }
        outcome.push([conversation.sessionId, messages])
      } catch (error) {
        if (!isMemoryError(error)) throw error
        outcome.push([source, error.code])
      }
    }
    return outcome
  }
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(withHoles(claudeAi), withHoles(chatgpt)), { maxLength: 4 }),
      async (list) => {
        await writeFile(path, JSON.stringify(list))
        expect(await read()).toEqual(await read())
      },
    ),
  )
})

it('yields whole conversations, and never fails but for the last, wherever an export is cut', async () => {
  const text = Buffer.from(JSON.stringify([claudeAi, chatgpt, { ...claudeAi, uuid: 'é' }]))
  const path = await temporaryFile('conversations.json', text)
  const all = (await readAll(path)).map(({ messages }) => messages)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: text.length }), async (length) => {
      await writeFile(path, text.subarray(0, length))
      const sources = await listImportable(path)
      if (!sources[0]?.includes('#')) return
      const whole = sources.filter((source) => !source.includes('#item-'))
      expect(sources.length - whole.length).toBeLessThanOrEqual(1)
      for (const [i, source] of whole.entries()) {
        expect(await messagesOf(await openTranscript(source))).toEqual(all[i])
      }
    }),
  )
})

it('finds the same conversations whatever stands in their texts and however the list is written', async () => {
  const folder = await temporaryFolder()
  const path = join(folder, 'conversations.json')
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'binary', minLength: 1 }), { minLength: 1, maxLength: 5 }),
      fc.constantFrom(0, 2, '\t'),
      fc.constantFrom('', '\uFEFF', ' \n'),
      async (texts, indent, before) => {
        const list = texts.map((text, i) => ({ uuid: `c${i}`, chat_messages: [{ sender: 'human', text }] }))
        await writeFile(path, before + JSON.stringify(list, null, indent))
        const found = await readAll(path)
        expect(found.map(({ conversation }) => conversation.sessionId)).toEqual(list.map(({ uuid }) => uuid))
        expect(found.flatMap(({ messages }) => messages).length).toBe(
          texts.filter((text) => text.trim() !== '').length,
        )
      },
    ),
  )
})

it('takes no other conversation for the one that was listed where it stands now', async () => {
  const chat = (uuid: string) => ({
    uuid,
    chat_messages: [{ uuid: 'm', sender: 'human', text: `I am ${uuid}` }],
  })
  const path = await temporaryFile('conversations.json', JSON.stringify([chat('a'), chat('b')]))
  const at = new Date('2026-03-01')
  await utimes(path, at, at)
  expect(await listImportable(path)).toEqual([`${path}#a`, `${path}#b`])
  await writeFile(path, JSON.stringify([chat('b'), chat('a')]))
  await utimes(path, at, at)
  await expect(openTranscript(`${path}#a`)).rejects.toMatchObject({
    message: expect.stringContaining('it was changed while it was being read: try again'),
  })
})
