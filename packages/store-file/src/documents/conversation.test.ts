import type { ConversationArchive } from '@recall/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isAsWritten, parseConversation, printConversation } from './conversation.ts'

const archive: ConversationArchive = {
  log: 7,
  date: '2026-11-18T10:00:05.234Z',
  sessionId: 's1',
  messageCount: 2,
  duration: '3m',
  source: 'session',
  topics: ['pool'],
  body: '## Summary\n\nThe pool leaks.\n',
}

it('keeps what a session is called, whatever that is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (title) => {
      const named = { ...archive, title }
      const { value, fields } = parseConversation(printConversation(named, 7), 7, 'conversation-007', {
        modified: 0,
      })
      expect(value).toEqual(named)
      expect(fields).toMatchObject({ title })
    }),
  )
})

it('has no name for a session that was given none', () => {
  const { value } = parseConversation(printConversation(archive, 7), 7, 'conversation-007', { modified: 0 })
  expect(value).toEqual(archive)
})

const read = (content: string) => parseConversation(content, 7, 'conversation-007', { modified: 0 })

it('keeps all facts of a part of a session, also that a person edited it', () => {
  const whole: ConversationArchive = {
    ...archive,
    source: 'checkpoint',
    part: 2,
    project: '/home/ana/api',
    title: 'Pool',
    lastMessage: '7ef90082',
    summarizedBy: 'algorithm',
    windowSummary: '8-0a1b2c3d4e5f6071',
    edited: true,
  }
  const { key, value, part } = read(printConversation(whole, 7))
  expect({ key, value, part }).toEqual({ key: 'conversation:s1#2', value: whole, part: 2 })
})

it('tells when it ended, where its text begins, and what is wrong with its front matter', () => {
  const ended = Date.parse(archive.date)
  const printed = printConversation(archive, 7)
  const line = printed.slice(0, printed.indexOf('## Summary')).split('\n').length
  expect(read(printed)).toMatchObject({ created: ended, updated: ended, line })
  expect(read(printed)).not.toHaveProperty('problem')
  expect(read('---\ntopics: [\n---\ntext').problem).toContain('not YAML')
})

it('is as it was written where an editor added blanks at its end', () => {
  expect(read(`${printConversation(archive, 7)}\n \n`).value).not.toHaveProperty('edited')
})

it('has a body with plain line ends, also where all lines end as on Windows', () => {
  const printed = printConversation(archive, 7)
  expect(read(printed.replaceAll('\n', '\r\n')).value).toEqual(read(printed).value)
})

it('keeps a field of a person that is spelled like those of the store', () => {
  const own = printConversation(archive, 7).replace('---\n', '---\nmine: "kept"\n')
  expect(printConversation({ ...archive, messageCount: 9 }, 7, own)).toBe(own.replace('count: 2', 'count: 9'))
})

it('leaves what has not changed as a person spelled it', () => {
  const own = printConversation(archive, 7).replace('"3m"', '3m # short')
  expect(printConversation({ ...archive, messageCount: 9 }, 7, own)).toContain('duration: 3m # short\n')
})

it('writes no front matter that is too long to be read again', () => {
  const titled = (length: number): string => printConversation({ ...archive, title: 'x'.repeat(length) }, 7)
  expect(read(titled(65_000)).key).toBe('conversation:s1')
  expect(() => titled(65_536)).toThrow(/'s1' takes \d+ characters, and only 65536 can be read again/)
})

it('takes facts that make no sense for none', () => {
  const odd =
    'session_id: 7\npart: 0\nmessage_count: many\nduration: 5\nlast_message: 1\nproject: 2\ntitle: 3'
  const { key, part, value } = read(`---\n${odd}\n---\ntext`)
  expect({ key, part }).toEqual({ key: 'conversation:7', part: 1 })
  expect(value).toEqual({
    log: 7,
    date: '1970-01-01T00:00:00.000Z',
    sessionId: '7',
    messageCount: 0,
    duration: '0s',
    source: 'session',
    topics: [],
    body: 'text',
  })
})

it('proves that it is whole only where it names its session and nobody changed it', () => {
  const content = printConversation(archive, 7)
  expect(isAsWritten(content)).toBe(true)
  for (const [from, to] of [
    ['leaks', 'leaked'],
    ['"3m"', '"4m"'],
    [/body_hash: .*\n/, ''],
    [/head_hash: .*\n/, ''],
    [/session_id: .*\n/, ''],
  ] as const)
    expect(isAsWritten(content.replace(from, to))).toBe(false)
})

const grown: ConversationArchive = {
  ...archive,
  messageCount: 4,
  topics: ['pool', 'clients: all'],
  title: 'Pool',
  body: '## Summary\n\nIt leaked.\n',
}

it('keeps what a person added to the front matter when the session has grown', () => {
  const before = printConversation({ ...archive, project: '/home/ana/api' }, 7)
    .replace('---\n', "---\n# Ask Ada about it.\nrating: 5\naliases:\n  - 'leak'\n  - the pool\n")
    .replace('"3m"', '"3m" # so long?')
  expect(read(before).value).not.toHaveProperty('edited')
  const after = printConversation({ ...grown, duration: '5m' }, 7, before)
  expect(after.slice(0, after.indexOf('body_hash'))).toBe(`---
# Ask Ada about it.
rating: 5
aliases:
  - 'leak'
  - the pool
log: 7
date: "2026-11-18T10:00:05.234Z"
session_id: "s1"
message_count: 4
duration: "5m" # so long?
source: "session"
topics: ["pool", "clients: all"]
`)
  expect(read(after).value).toEqual({ ...grown, duration: '5m' })
  expect(read(before.replaceAll('\n', '\r\n')).value).not.toHaveProperty('edited')
  expect(read(printConversation(grown, 7, before.replaceAll('\n', '\r\n'))).value).toEqual(grown)
})

it('keeps the line ends and the byte order mark of its file when the session has grown', () => {
  const before = `\uFEFF${printConversation(archive, 7)}`.replaceAll('\n', '\r\n')
  for (const body of [grown.body, 'one\r\ntwo\rthree\n']) {
    const after = printConversation({ ...grown, body }, 7, before)
    expect(after).toBe(`\uFEFF${printConversation({ ...grown, body }, 7)}`.replaceAll('\n', '\r\n'))
    expect(read(after).value).toEqual({ ...grown, body })
    expect(isAsWritten(after)).toBe(true)
  }
})

it('prints anew what nobody has touched', () => {
  const anew = printConversation(grown, 7)
  expect(printConversation(grown, 7, printConversation(archive, 7))).toBe(anew)
})

it.each([
  ['topics: ["pool"]', 'topics: [pool, mine]'],
  ['duration: "3m"', 'duration: "3m"\ntitle: Mine'],
  ['duration: "3m"', 'duration: "3m"\nproject: /mine'],
  ['date: "2026-11-18T10', 'date: "2026-11-18T11'],
])('counts as edited where a person writes other facts: %s', (from, to) => {
  const content = printConversation(archive, 7).replace(from, to)
  expect(read(content).value).toMatchObject({ edited: true })
})

it.each(['body_hash', 'head_hash'])('counts as edited where a person removed its %s', (name) => {
  const content = printConversation({ ...archive, lastMessage: '7ef90082' }, 7)
  expect(read(content).value).not.toHaveProperty('edited')
  expect(read(content.replace(new RegExp(`${name}: .*\n`), '')).value).toMatchObject({ edited: true })
})

it('is not edited by other quotes, nor where it never had a hash', () => {
  const content = printConversation(archive, 7)
  expect(read(content.replace('["pool"]', '\n  - pool').replace('"3m"', '3m')).value).toEqual(archive)
  const unmarked = content.replace(/head_hash: .*\n/, '')
  expect(read(unmarked).value).toEqual(archive)
  expect(read(printConversation(grown, 7, unmarked)).value).toEqual(grown)
})
