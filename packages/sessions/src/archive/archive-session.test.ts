import { fenceRecalled, type JsonObject, MemoryError, MemoryErrorCode, type Message } from '@recall/core'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import {
  clock,
  conversation,
  fakeLm,
  lmAnswer,
  minute,
  openMemory,
  readArchive,
  start,
  talk,
  text,
} from '../../test/support.ts'
import type { ArchiveOptions } from '../options.ts'
import { archiveSession, createCheckpoint } from './archive-session.ts'
import { consumeWindow } from './consume-window.ts'
import { readWindow } from './window.ts'

it('refuses what is no conversation, says what one is, and archives nothing of it', async () => {
  const memory = openMemory()
  const said = { id: 'm1', role: 'user', content: [text('Fix the login')] }
  const facts = { skipped: {} }
  const wrong = [
    undefined,
    { messages: [said], facts },
    { sessionId: '', messages: [said], facts },
    { sessionId: 's', facts },
    { sessionId: 's', messages: [said] },
    { sessionId: 's', messages: 'Fix the login', facts },
    { sessionId: 's', messages: [said, 'Fix the login'], facts },
    { sessionId: 's', messages: [said, null], facts },
    { sessionId: 's', messages: [said, { ...said, content: 'Fix the login' }], facts },
    { sessionId: 's', messages: [said, { ...said, content: ['Fix the login'] }], facts },
    { sessionId: 's', messages: [said, { ...said, content: [null] }], facts },
    { sessionId: 's', messages: [said, { ...said, content: [{ type: 'text' }] }], facts },
    { sessionId: 's', messages: [said, { ...said, content: [{ type: 'tool_use', input: {} }] }], facts },
    { sessionId: 's', messages: [said, { ...said, content: [{ type: 'tool_result', content: [] }] }], facts },
    { sessionId: 's', messages: [said, { ...said, role: 'system' }], facts },
    { sessionId: 's', messages: [said, { ...said, content: [{ type: 'image' }] }], facts },
  ]
  for (const each of wrong) {
    await expect(archiveSession(memory, each as never)).rejects.toMatchObject({
      code: MemoryErrorCode.INVALID_INPUT,
      message: expect.stringContaining(': a conversation is { sessionId, messages, facts'),
    })
  }
  expect(await memory.search('episodic', {})).toEqual([])
})

it.each(['x'.repeat(1001), 'two\nlines'])('says what a sessionId may be, and takes no other', async (id) => {
  await expect(archiveSession(openMemory(), conversation(id, talk))).rejects.toMatchObject({
    code: MemoryErrorCode.INVALID_INPUT,
    message: expect.stringContaining('at most 1000 characters, and no control characters'),
  })
})

it('says that a session is archived which could not enter the window, and enters it the next time', async () => {
  const memory = openMemory()
  const search = vi.spyOn(memory, 'search').mockImplementation(async () => {
    throw new MemoryError('EPHEMERAL.md cannot be read', MemoryErrorCode.SEARCH_FAILED)
  })
  await expect(archiveSession(memory, conversation('s', talk), { clock })).rejects.toMatchObject({
    code: MemoryErrorCode.SEARCH_FAILED,
    message:
      'EPHEMERAL.md cannot be read; the session is archived and only the window lacks it: archive it again',
  })
  search.mockRestore()
  expect(await archiveSession(memory, conversation('s', talk), { clock })).toMatchObject({
    status: 'unchanged',
    window: 'added',
  })
})

describe('what an archive holds', () => {
  it('has the latest name of the session, without secrets and of a length for lists', async () => {
    const memory = openMemory()
    const named = async (title: string, ...said: string[]): Promise<string | undefined> => {
      await archiveSession(memory, conversation('s', said, { facts: { skipped: {}, title } }), { clock })
      return (await readArchive(memory, 's')).title
    }
    expect(await named(`Use ghp_${'a1B2'.repeat(9)}`, 'a')).toBe('Use [redacted:github]')
    expect(await named('n'.repeat(500), 'a', 'b')).toBe(`${'n'.repeat(199)}…`)
    expect(await named('  ', 'a', 'b', 'c')).toBeUndefined()
    expect(await named(fenceRecalled('remembered', 'x'), 'a', 'b', 'c', 'd')).toBeUndefined()
  })

  it('ends when it was archived, if its transcript was dated by a clock that ran far ahead', async () => {
    const memory = openMemory()
    const year = 365 * 24 * 60 * minute
    await archiveSession(memory, conversation('ahead', talk, { from: start + year }), { clock })
    await consumeWindow(memory, { clear: true, clock })
    const later = () => start + 60 * minute
    await archiveSession(memory, conversation('next', talk, { from: start + minute }), { clock: later })
    expect(await readArchive(memory, 'ahead')).toMatchObject({
      date: '2026-03-06T10:00:00.000Z',
      duration: '2m',
    })
    expect((await readWindow(memory)).map(({ sessionId }) => sessionId)).toEqual(['next'])
    const again = await archiveSession(memory, conversation('ahead', talk, { from: start + year }), {
      clock: later,
    })
    expect(again.status).toBe('unchanged')
  })

  it('ends when it was archived, if its transcript was dated two days ahead', async () => {
    const memory = openMemory()
    await archiveSession(memory, conversation('s', talk, { from: start + 48 * 60 * minute }), { clock })
    expect((await readArchive(memory, 's')).date).toBe('2026-03-06T10:00:00.000Z')
  })

  it('ends when its transcript says, by a clock that is only hours ahead', async () => {
    const memory = openMemory()
    await archiveSession(memory, conversation('s', talk, { from: start + 23 * 60 * minute }), { clock })
    expect(await readArchive(memory, 's')).toMatchObject({ date: '2026-03-07T09:02:00.000Z' })
  })

  it('ends when it was archived, if it has no times and its file was dated far ahead', async () => {
    const memory = openMemory()
    const messages = [
      { id: 'm1', role: 'user' as const, content: [{ type: 'text' as const, text: 'a question' }] },
    ]
    const undated = start + 70 * 365 * 24 * 60 * minute
    await archiveSession(memory, { ...conversation('s', talk), messages }, { clock, undated })
    expect(await readArchive(memory, 's')).toMatchObject({ date: '2026-03-06T10:00:00.000Z' })
  })

  it('has one heading for all that the assistant says until the person says something', async () => {
    const memory = openMemory()
    await archiveSession(memory, conversation('s', ['Fix it', 'Looking.', { content: [] }, 'Done.']))
    expect((await readArchive(memory, 's')).body).toContain('### Assistant\n\nLooking.\n\nDone.\n')
  })

  it('has the facts, the summary, every turn to the letter and the tags', async () => {
    const memory = openMemory()
    const outcome = await archiveSession(
      memory,
      conversation(
        'abc123',
        [
          'Fix the login\n\n  indented *as typed* ',
          {
            content: [
              { type: 'thinking', text: 'secretly thinking' },
              text('We decided to use JWT for auth.'),
              { type: 'tool_use', id: 't1', name: 'Read', input: { file_path: '/home/dev/api/src/auth.rs' } },
            ],
          },
          {
            role: 'assistant',
            content: [{ type: 'tool_result', toolUseId: 't1', content: 'fn main() {\n}' }],
          },
          'todo: add a test',
        ],
        { facts: { skipped: {}, project: '/home/dev/api', title: ' Fix the\n login ' } },
      ),
      { clock },
    )

    const archive = await readArchive(memory, 'abc123')
    expect(archive).toMatchObject({
      date: '2026-03-06T10:03:00.000Z',
      sessionId: 'abc123',
      messageCount: 4,
      duration: '3m',
      source: 'session',
      lastMessage: 'abc123-m4',
      summarizedBy: 'algorithm',
      project: '/home/dev/api',
      title: 'Fix the login',
    })
    expect(archive.part).toBeUndefined()
    expect(archive.body).toBe(`## Summary

Fix the login indented *as typed*

### User

Fix the login

  indented *as typed* 

### Assistant

We decided to use JWT for auth.

> [tool] Read: /home/dev/api/src/auth.rs

> [output] fn main() {
> }

todo: add a test

## Tags

**Decisions**: We decided to use JWT for auth.
**Action Items**: todo: add a test
**Files**: src/auth.rs
**Tools**: Read
`)
    expect(outcome).toMatchObject({ status: 'archived', messageCount: 4, window: 'added', kept: [] })
  })

  it('still has the project when the session went on and is archived by something that knows of none', async () => {
    const memory = openMemory()
    const facts = { skipped: {}, project: '/home/dev/api' }
    await archiveSession(memory, conversation('s', ['Fix the login'], { facts }), { clock })
    await archiveSession(memory, conversation('s', ['Fix the login', 'done']), { clock })
    expect(await readArchive(memory, 's')).toMatchObject({ messageCount: 2, project: '/home/dev/api' })
  })

  it('carries the type and the topics as tags', async () => {
    const memory = openMemory()
    await archiveSession(memory, conversation('s', ['The middleware breaks the middleware tests', 'ok']))
    const record = await memory.read('episodic', 'conversation:s', { includeMetadata: true })
    expect(record?.metadata).toMatchObject({ type: 'conversation' })
    expect(record?.metadata.tags[0]).toBe('middleware')
    expect((await readArchive(memory, 's')).topics).toEqual(record?.metadata.tags)
  })

  it('has the files that were worked on among its topics, without their folders and markers', async () => {
    const memory = openMemory()
    const use = (input: JsonObject) => ({ type: 'tool_use' as const, id: 't', name: 'Use', input })
    await archiveSession(
      memory,
      conversation('s', [
        'the leak is back',
        {
          content: [
            use({ path: '/home/dev/api/pool.ts' }),
            use({ path: '/home/dev/api/pool.test.ts' }),
            use({ path: '/home/dev/api/kettle.ts' }),
            use({ path: '/home/dev/api/kettle.ts' }),
            use({ command: 'boil water' }),
          ],
        },
        '[Request interrupted by user]',
      ]),
    )
    expect((await readArchive(memory, 's')).topics).toEqual(['pool', 'leak', 'kettle'])
  })

  it('dates a conversation without times by the clock', async () => {
    const memory = openMemory()
    const timeless = conversation('s', [{ at: undefined, content: [text('hi')] }])
    await archiveSession(memory, timeless, { clock: () => start + minute })
    expect(await readArchive(memory, 's')).toMatchObject({
      date: '2026-03-06T10:01:00.000Z',
      duration: 'unknown',
    })
  })

  it('replaces secrets before the archive and the model see them, and counts them', async () => {
    const memory = openMemory()
    const key = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`
    const lm = fakeLm(lmAnswer('ok'))
    const outcome = await archiveSession(
      memory,
      conversation('s', [
        `use ${key}`,
        { content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: `echo ${key}` } }] },
        { role: 'assistant', content: [{ type: 'tool_result', toolUseId: 't', content: `x ${key}` }] },
      ]),
      { lm },
    )
    expect((await readArchive(memory, 's')).body).not.toContain(key)
    expect(lm.prompts.join()).not.toContain(key)
    expect(Object.values(outcome.redactions).reduce((sum, count) => sum + count, 0)).toBe(3)
  })

  it('replaces what only the name of a member of a tool input says is secret', async () => {
    const memory = openMemory()
    const lm = fakeLm(lmAnswer('ok'))
    const password = 'correct horse staple'
    const outcome = await archiveSession(
      memory,
      conversation('s', [
        'log in',
        { content: [{ type: 'tool_use', id: 't', name: 'login', input: { password, user: 'ada' } }] },
      ]),
      { lm },
    )
    const { body } = await readArchive(memory, 's')
    expect(body).toContain('login')
    expect([body, ...lm.prompts].join()).not.toContain(password)
    expect(outcome.redactions).toEqual({ password: 1 })
  })

  it('leaves out memory that was recalled into the conversation', async () => {
    const memory = openMemory()
    const recalled = fenceRecalled('an old summary', 'window')
    await archiveSession(memory, conversation('s', [`${recalled}\ngo on`, 'ok']))
    const { body } = await readArchive(memory, 's')
    expect(body).not.toContain('an old summary')
    expect(body).toContain('### User\n\ngo on')
  })

  it('writes nothing for an empty conversation', async () => {
    const memory = openMemory()
    expect(await archiveSession(memory, conversation('s', []))).toMatchObject({ status: 'empty', parts: [] })
    expect(await memory.exists('episodic', 'conversation:s')).toBe(false)
    expect(await readWindow(memory)).toEqual([])
  })

  it('finds every text of both sides in the archives, whatever it is and however small the parts are', async () => {
    const said = fc.string({ minLength: 1, unit: 'grapheme' }).filter((value) => value.trim() !== '')
    await fc.assert(
      fc.asyncProperty(
        fc.array(said, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 80 }),
        async (texts, partSize) => {
          const memory = openMemory()
          const outcome = await archiveSession(memory, conversation('s', texts), { partSize })
          const bodies = await Promise.all(
            outcome.parts.map((_, index) => readArchive(memory, 's', index + 1)),
          )
          const all = bodies.map((archive) => archive.body).join('\n')
          for (const each of texts) expect(all).toContain(each)
          expect(bodies.reduce((sum, { messageCount }) => sum + messageCount, 0)).toBe(texts.length)
        },
      ),
      { numRuns: 50 },
    )
  })
})

it.each([0, 51, 2.5, Number.NaN])(
  'refuses a window of %s sessions before it writes anything',
  async (maxEntries) => {
    const memory = openMemory()
    await expect(archiveSession(memory, conversation('s', talk), { maxEntries })).rejects.toMatchObject({
      code: 'MEMORY_INVALID_INPUT',
    })
    expect(await memory.exists('episodic', 'conversation:s')).toBe(false)
  },
)

it.each([0, 2.5, Number.NaN])('refuses parts of %s characters', async (partSize) => {
  await expect(archiveSession(openMemory(), conversation('s', talk), { partSize })).rejects.toMatchObject({
    code: 'MEMORY_INVALID_INPUT',
  })
})

it.each([
  ['lm', {}],
  ['lm', null],
  ['lmTimeoutMs', Number.NaN],
  ['lmTimeoutMs', -1],
  ['lmTimeoutMs', '30000'],
  ['undated', Number.NaN],
  ['undated', Number.POSITIVE_INFINITY],
  ['undated', '2026-01-01'],
  ['clock', 5],
  ['resummarize', 'no'],
  ['inWindow', 0],
  ['maxEntry', 3],
])('refuses an option %s of %o before it writes anything', async (name, value) => {
  const memory = openMemory()
  const options = { [name]: value } as ArchiveOptions
  await expect(archiveSession(memory, conversation('s', talk), options)).rejects.toMatchObject({
    code: 'MEMORY_INVALID_INPUT',
    message: expect.stringContaining(name),
  })
  expect(await memory.exists('episodic', 'conversation:s')).toBe(false)
})

it('archives what was given to a tool, however deep it is nested', async () => {
  const memory = openMemory()
  const input = JSON.parse(`${'['.repeat(5000)}"deep"${']'.repeat(5000)}`)
  const use: Partial<Message> = {
    role: 'assistant',
    content: [
      { type: 'tool_use', id: 't', name: 'Read', input: { path: 'src/auth.rs', input, limit: null } },
    ],
  }
  await archiveSession(memory, conversation('s', ['go on', use]), { clock })
  expect((await readArchive(memory, 's')).body).toContain('> [tool] Read: src/auth.rs')
})

it('keeps nothing of what a tool recalled, however long it was and wherever its host cut it', async () => {
  const memory = openMemory()
  const recalled = fenceRecalled('remembered words '.repeat(2000), 'x')
  const result = (content: string): Partial<Message> => ({
    role: 'assistant',
    content: [{ type: 'tool_result', toolUseId: 't', content }],
  })
  await archiveSession(
    memory,
    conversation('s', ['go on', result(recalled), result(recalled.slice(0, 9000))]),
    {
      clock,
    },
  )
  expect((await readArchive(memory, 's')).body).not.toContain('remembered words')
})

it('keeps nothing of what a command found in the memory, and the rest of what tools put out', async () => {
  const memory = openMemory()
  const run = (id: string, command: string): Partial<Message> => ({
    role: 'assistant',
    content: [{ type: 'tool_use', id, name: 'Bash', input: { command } }],
  })
  const result = (toolUseId: string, content: string, isError = false): Partial<Message> => ({
    role: 'assistant',
    content: [{ type: 'tool_result', toolUseId, content, isError }],
  })
  await archiveSession(
    memory,
    conversation('s', [
      'go on',
      run('a', 'recall search "pool"'),
      result('a', 'found before'),
      run('b', 'recall search "leak"'),
      result('b', 'nothing was found', true),
      run('a', 'npm test'),
      result('a', '3 passed'),
    ]),
    { clock },
  )
  const { body } = await readArchive(memory, 's')
  expect(body).toContain('> [tool] Bash: recall search "pool"')
  expect(body).not.toContain('found before')
  expect(body).toContain('> [failed output] nothing was found')
  expect(body).toContain('> [output] 3 passed')
})

it('shows the output of a tool without the colours and links of a terminal', async () => {
  const memory = openMemory()
  const content =
    '\u001b[32m✓\u001b[39m 3 \u001b[1;4mpassed\u001b[0m\u001b[K of \u001b]8;;https://example.com\u0007run 7\u001b]8;;\u0007'
  await archiveSession(
    memory,
    conversation('s', [
      'run it',
      { role: 'assistant', content: [{ type: 'tool_result', toolUseId: 't', content }] },
    ]),
    { clock },
  )
  expect((await readArchive(memory, 's')).body).toContain('> [output] ✓ 3 passed of run 7\n')
})

it('leaves an archive alone that was made of a later reading', async () => {
  const memory = openMemory()
  const later = await archiveSession(memory, conversation('s', [...talk, 'one more thing']), { clock })
  const earlier = await archiveSession(memory, conversation('s', talk), { clock })
  expect(earlier).toMatchObject({ status: 'unchanged', parts: [{ key: later.parts[0]?.key }], kept: [] })
  expect((await readArchive(memory, 's')).messageCount).toBe(4)
  expect((await readWindow(memory)).map(({ messageCount }) => messageCount)).toEqual([4])

  // What was said differently is not in it.
  const other = await archiveSession(memory, conversation('s', ['Fix the logout', 'Yes.']), { clock })
  expect(other).toMatchObject({ status: 'archived', kept: ['conversation:s'] })
})

it('stays the archive of a session that has ended when a checkpoint has it summarised again', async () => {
  const memory = openMemory()
  await archiveSession(memory, conversation('s', talk))
  const lm = fakeLm(lmAnswer('The login was fixed.'))
  await createCheckpoint(memory, conversation('s', talk), { lm, resummarize: true })
  expect(await readArchive(memory, 's')).toMatchObject({ summarizedBy: 'fake/model', source: 'session' })
})

it.each([
  [MemoryErrorCode.WRITE_FAILED, 1],
  [MemoryErrorCode.CONFLICT, 10],
])('fails when the archive cannot be written for %s, at try %i', async (code, tries) => {
  let tried = 0
  const memory = {
    ...openMemory(),
    async write() {
      tried++
      throw new MemoryError('refused', code)
    },
  }
  await expect(archiveSession(memory, conversation('s', talk))).rejects.toMatchObject({ code })
  expect(tried).toBe(tries)
})

it('tells the window once what is both the summary and the last answer of a session', async () => {
  const memory = openMemory()
  const said = [{ role: 'assistant' as const, content: [text('All tests pass now.')] }]
  await archiveSession(memory, conversation('s', said))
  expect((await readWindow(memory)).map(({ summary }) => summary)).toEqual(['All tests pass now.'])
})
