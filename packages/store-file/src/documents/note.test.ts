import type { Entry, JsonValue } from '@recall/core'
import { searchableText } from '@recall/core/json'
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { fileStem } from '../files/paths.ts'
import { parseNote, printNote } from './note.ts'

const entryOf = (key: string, value: JsonValue, more: Partial<Entry> = {}): Entry => ({
  namespace: 'default',
  scope: 'long-term',
  key,
  value,
  text: searchableText(value),
  type: null,
  tags: [],
  createdAt: 1000,
  updatedAt: 2000,
  accessedAt: 1000,
  accessCount: 0,
  ttl: null,
  expiresAt: null,
  encrypted: false,
  embedding: null,
  ...more,
})

const roundTrip = (entry: Entry) => parseNote(printNote(entry), fileStem(entry.key), { modified: 0 })

it('a note reads as it was written: any text', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('', '\n', '\r', '\r\n', '\n\n', '---\n', '```'),
      (text, end) => {
        const value = `${text}${end}`
        expect(roundTrip(entryOf('key', value))).toMatchObject({ key: 'key', value, text: value })
      },
    ),
    { numRuns: 1000 },
  )
})

it('a note reads as it was written: any JSON, key, tags and times', () => {
  const key = fc.string({ minLength: 1, unit: 'grapheme' })
  fc.assert(
    fc.property(
      key,
      fc.jsonValue(),
      fc.array(fc.string()),
      fc.integer({ min: 0, max: 4e12 }),
      (name, json, tags, at) => {
        const value = JSON.parse(JSON.stringify(json)) as JsonValue
        const entry = entryOf(name, value, {
          tags,
          createdAt: at,
          updatedAt: at + 1,
          ttl: 5,
          expiresAt: at + 6,
          type: 'x',
        })
        expect(roundTrip(entry)).toMatchObject({
          key: name,
          value,
          tags,
          created: at,
          updated: at + 1,
          ttl: 5,
          expires: at + 6,
          type: 'x',
        })
      },
    ),
    { numRuns: 1000 },
  )
})

it('a note may say by hand how long it lives, what it is and what its tags are', () => {
  const read = (head: string) => parseNote(`---\n${head}\n---\ntext\n`, 'key', { modified: 1000 })
  expect(read('ttl: 500')).toMatchObject({ ttl: 500, expires: 1500 })
  expect(read('ttl: 500\nexpires: 1970-01-01T00:00:09Z')).toMatchObject({ ttl: 500, expires: 9000 })
  expect(read('tags: work').tags).toEqual(['work'])
  expect(read('tags: [2026, true, react, ~]').tags).toEqual(['2026', 'true', 'react'])
  expect(read('type: 5').type).toBe('5')
  expect(read('type: {}').type).toBe(null)
  expect(read('tags:').tags).toEqual([])
})

it.each(['false', 'no', 'No', '"false"', 'off', '0'])('a note is not indexed where it says %s', (indexed) => {
  const note = parseNote(`---\nindexed: ${indexed}\n---\nharbour\n`, 'key', { modified: 1000 })
  expect(note).toMatchObject({ value: 'harbour', text: '' })
  expect(note).not.toHaveProperty('problem')
})

it.each(['true', 'yes', '"on"', '1'])('a note is indexed where it says %s', (indexed) => {
  const note = parseNote(`---\nindexed: ${indexed}\n---\nharbour\n`, 'key', { modified: 1000 })
  expect(note).toMatchObject({ text: 'harbour' })
  expect(note).not.toHaveProperty('problem')
})

it('a note does not end at once, or at no time that can be told, for a lifetime that is none', () => {
  const read = (ttl: string) => parseNote(`---\nttl: ${ttl}\n---\ntext\n`, 'key', { modified: 1000 })
  for (const ttl of ['0', '-5', '1e15', '.inf', '"500"', '~ 5', '[500]'])
    expect(read(ttl)).toMatchObject({ ttl: null, expires: null, problem: expect.stringContaining("'ttl'") })
  for (const ttl of ['0.5', '1e14']) {
    expect(read(ttl)).toMatchObject({ ttl: Number(ttl), expires: 1000 + Number(ttl) })
    expect(read(ttl)).not.toHaveProperty('problem')
  }
})

const updatedOnceEdited = (from: string | RegExp, to: string): number => {
  const more = { type: 'x', tags: ['a'], ttl: 5000, expiresAt: 7000, text: 'word' }
  const written = printNote(entryOf('key', 'value\nmore', more))
  const edited = written.replace(from, to)
  expect(edited).not.toBe(written)
  return parseNote(edited, 'key', { modified: 9000 }).updated
}

it.each([
  ['its type', 'type: "x"', 'type: "y"'],
  ['its tags', '["a"]', '["a","b"]'],
  ['how long it lives', 'ttl: 5000', 'ttl: 6000'],
  ['when it ends', 'T00:00:07', 'T00:00:08'],
  ['what it is found by', 'text: "word"', 'text: "words"'],
  ['whether it is found', 'text: "word"', 'text: "word"\nindexed: false'],
  ['what it says', 'value', 'values'],
])('a note is as new as its file when a person changed %s', (_, from, to) => {
  expect(updatedOnceEdited(from, to)).toBe(9000)
})

it.each([
  ['how a text is spelled', '"x"', 'x'],
  ['how a list is spelled', '["a"]', '[ a ]'],
  ['its line ends', /\n/g, '\r\n'],
  ['the blanks at its end', /$/, '\n \n'],
])('a note is as old as it says when an editor changed %s', (_, from, to) => {
  expect(updatedOnceEdited(from, to)).toBe(2000)
})

it('a note without its hash is another version than the one that was written, and as old', () => {
  expect(updatedOnceEdited(/hash: .*\n/, '')).toBe(2001)
})

it('a note is as old as it says when a person wrote it', () => {
  const head = 'updated: 1970-01-01T00:00:02.000Z\n'
  for (const more of [
    '',
    'key: key\n',
    'created: 1970-01-01\nkey: key\n',
    'created: 1970-01-01T00:00:02.000Z\n',
  ])
    expect(parseNote(`---\n${head}${more}---\ntext\n`, 'key', { modified: 9000 }).updated).toBe(2000)
})

it('a note keeps what it is found by when that is not its value', () => {
  expect(roundTrip(entryOf('key', 'value', { text: '' })).text).toBe('')
  expect(roundTrip(entryOf('key', 'value', { text: 'other words' })).text).toBe('other words')
})

it('a file without front matter is a note named like the file', () => {
  const note = parseNote('just text\n', 'My idea', { modified: 7 })
  expect(note).toMatchObject({ key: 'My idea', value: 'just text', created: 7, updated: 7, line: 1 })
})

it('a note says the same when git or an editor made its line ends those of Windows', () => {
  const entry = entryOf('key', 'one\ntwo\n\n')
  const content = printNote(entry).replaceAll('\n', '\r\n')
  expect(parseNote(content, 'key', { modified: 0 })).toMatchObject({ value: entry.value, text: entry.text })
  const byHand = parseNote('one\r\ntwo\r\n', 'key', { modified: 0 })
  expect(byHand).toMatchObject({ value: 'one\ntwo', text: 'one\ntwo' })
  expect(byHand).not.toHaveProperty('derived')
  expect(roundTrip(entryOf('key', 'one\r\ntwo')).value).toBe('one\r\ntwo')
})

it('a note keeps the line ends of Windows when it is written again', () => {
  const earlier = printNote(entryOf('key', 'one\ntwo')).replaceAll('\n', '\r\n')
  for (const value of ['three\nfour', 'five\r\nsix\rseven', 'eight\r', { nine: 'ten\n' }, '']) {
    const entry = entryOf('key', value)
    const content = printNote(entry, earlier)
    expect(content).not.toMatch(/(?<!\r)\n/)
    // As new as it says: nobody edited it.
    expect(parseNote(content, 'key', { modified: 9000 })).toMatchObject({
      value,
      text: entry.text,
      updated: 2000,
    })
  }
})

it('a note whose front matter names nothing is written again, with the comments in it', () => {
  const entry = entryOf('key', 'new')
  for (const head of ['~', 'null', '', '{}'])
    expect(printNote(entry, `---\n${head}\n---\nold\n`)).toBe(printNote(entry))
  const commented = printNote(entry, '---\n# mine\n---\nold\n')
  expect(commented).toContain('# mine')
  expect(parseNote(commented, 'key', { modified: 0 })).toMatchObject({ value: 'new', updated: 2000 })
})

it('a note keeps the numbers of a person as they were typed when it is written again', () => {
  const theirs = 'id: 20260102103012123\ncommit: 1234e567\nversions: [3.10, 007]\n'
  expect(printNote(entryOf('key', 'new'), `---\n${theirs}---\nold\n`)).toContain(`---\n${theirs}key: "key"\n`)
})

it('a byte order mark, which some editors write, is no part of what a note says', () => {
  const read = (content: string) => parseNote(content, 'key', { modified: 0 })
  expect(read('\uFEFFjust text\n')).toMatchObject({ value: 'just text', text: 'just text' })
  expect(read('\uFEFF---\ntags: [a\n---\ntext\n').value).toBe('---\ntags: [a\n---\ntext')
  const entry = entryOf('key', '\uFEFF')
  expect(read(printNote(entry, '\uFEFFjust text\n')).value).toBe('\uFEFF')
})

it('a note keeps its byte order mark when it is written again', () => {
  const entry = entryOf('key', 'new')
  for (const earlier of ['old\n', printNote(entryOf('key', 'old')), '---\nupdated: old\n---\nold\n'])
    expect(printNote(entry, `\uFEFF${earlier}`)).toBe(`\uFEFF${printNote(entry, earlier)}`)
  expect(parseNote(`\uFEFF${printNote(entry)}`, 'key', { modified: 9000 })).toMatchObject({
    value: 'new',
    updated: 2000,
  })
})

it('a note whose front matter could not be read again is refused', () => {
  const tags = Array.from({ length: 256 }, (_, i) => `${i}`.padEnd(256, 'x'))
  expect(() => printNote(entryOf('key', 'value', { tags }))).toThrow('read again')
  expect(() => printNote(entryOf('key', 'value', { text: 'x'.repeat(70_000) }))).toThrow('read again')
  const text = 'x'.repeat(60_000)
  expect(roundTrip(entryOf('key', 'value', { text })).text).toBe(text)
})

it('a note that was renamed is read by its name, and says that its key is another', () => {
  const content = printNote(entryOf('project:deploy notes', 'value'))
  const renamed = parseNote(content, 'deploy', { modified: 0 })
  expect(renamed).toMatchObject({ key: 'deploy', problem: expect.stringContaining("is read as 'deploy'") })
  expect(roundTrip(entryOf('project:deploy notes', 'value'))).not.toHaveProperty('problem')
  expect(parseNote('---\nkey: My idea\n---\ntext\n', 'My idea', { modified: 0 })).not.toHaveProperty(
    'problem',
  )
})

it('the times that a person writes without a zone are the same on every machine', () => {
  const note = '---\nupdated: 2026-03-29 02:30\nexpires: 2026-03-30T02:30:00\n---\ntext\n'
  for (const timeZone of ['UTC', 'Europe/Berlin', 'Pacific/Kiritimati']) {
    vi.stubEnv('TZ', timeZone)
    expect(parseNote(note, 'key', { modified: 0 })).toMatchObject({
      updated: Date.UTC(2026, 2, 29, 2, 30),
      expires: Date.UTC(2026, 2, 30, 2, 30),
    })
  }
  vi.unstubAllEnvs()
})
