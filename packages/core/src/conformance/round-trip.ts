import fc from 'fast-check'
import { expect } from 'vitest'
import { refused } from './expectations.ts'
import { law, type Theme } from './harness.ts'

export const roundTrip: Theme = {
  title: 'Round trip',
  laws: [
    law('A value that is read equals the value that was written.', async ({ memory }) => {
      const values = [
        true,
        false,
        0,
        -1.5,
        'text',
        '',
        [],
        {},
        [1, [2, [3]]],
        { a: { b: [null, { c: 'd' }] } },
      ]
      for (const [i, value] of values.entries()) await memory.write('long-term', `value ${i}`, value)
      for (const [i, value] of values.entries())
        expect(await memory.read('long-term', `value ${i}`)).toEqual(value)
    }),

    law('An absent key reads as null.', async ({ memory }) => {
      expect(await memory.read('long-term', 'absent')).toBeNull()
      expect(await memory.read('long-term', 'absent', { includeMetadata: true })).toBeNull()
    }),

    law('A stored null is told from an absent key by exists and by its metadata.', async ({ memory }) => {
      await memory.write('long-term', 'nothing', null)
      expect(await memory.read('long-term', 'nothing')).toBeNull()
      expect(await memory.exists('long-term', 'nothing')).toBe(true)
      const record = await memory.read('long-term', 'nothing', { includeMetadata: true })
      expect(record).toMatchObject({ value: null, metadata: { key: 'nothing' } })
    }),

    law('Any JSON value survives the round trip.', async ({ memory }) => {
      await fc.assert(
        fc.asyncProperty(fc.jsonValue({ stringUnit: 'binary' }), async (given) => {
          const value: unknown = JSON.parse(JSON.stringify(given))
          await memory.write('long-term', 'value', value)
          expect(await memory.read('long-term', 'value')).toEqual(value)
        }),
        { numRuns: 50 },
      )
    }),

    law('Any well-formed string survives the round trip, character by character.', async ({ memory }) => {
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (value) => {
          await memory.write('long-term', 'text', value)
          expect(await memory.read('long-term', 'text')).toBe(value)
        }),
        { numRuns: 50 },
      )
    }),

    law('Text that looks like the syntax of a file survives verbatim.', async ({ memory }) => {
      const texts = [
        '---\ntitle: not front matter\n---\nbody',
        '---\n---\n',
        '---',
        '```json\n{"a": 1}\n```',
        '~~~~\n```\n~~~~',
        '# Heading\n\n- item\n',
        'windows\r\nline\r\nends\r\n',
        'old mac\rends',
        '\n\nleading and trailing\n\n\n',
        '  spaces  \t ',
        ' ',
        '\n',
        'a\u0000b',
        '\ufeffbyte order mark',
        'line\u2028separator\u2029paragraph',
        '<!-- comment --> &amp; {{template}} $(variable) \x24{variable}',
        `{"looks": "like JSON"}`,
        'null',
        '42',
        'true',
        '%s %d \\n \\u0041',
        "'; DROP TABLE entries; --",
      ]
      for (const [i, text] of texts.entries()) await memory.write('long-term', `text ${i}`, text)
      for (const [i, text] of texts.entries()) expect(await memory.read('long-term', `text ${i}`)).toBe(text)
    }),

    law(
      'A string that is not well-formed Unicode is kept as it is or refused, never altered.',
      async ({ memory }) => {
        for (const value of ['\ud800', 'cut \udc00 here']) {
          const kept = await memory.write('long-term', 'lone surrogate', value).then(
            () => true,
            () => false,
          )
          if (kept) expect(await memory.read('long-term', 'lone surrogate')).toBe(value)
          else await refused('INVALID_INPUT', () => memory.write('long-term', 'lone surrogate', value))
        }
      },
    ),

    law('A text of one megabyte survives, alone and as a member.', async ({ memory }) => {
      const text = 'All work and no play. '.repeat(50_000)
      await memory.write('long-term', 'long', text)
      await memory.write('long-term', 'member', { text })
      expect(await memory.read('long-term', 'long')).toBe(text)
      expect(await memory.read('long-term', 'member')).toEqual({ text })
    }),

    law('Numbers keep their precision.', async ({ memory }) => {
      const numbers = [0.1, 1e21, -1e-7, 5e-324, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER, 123456789.123456]
      await memory.write('long-term', 'numbers', numbers)
      expect(await memory.read('long-term', 'numbers')).toEqual(numbers)
    }),

    law('A member may have any name, also that of a prototype and the empty string.', async ({ memory }) => {
      const text = '{"__proto__":{"a":1},"":2,"constructor":3,"a.b":4,"$or":5}'
      await memory.write('long-term', 'names', JSON.parse(text))
      const read = await memory.read<object>('long-term', 'names')
      expect(Object.keys(read ?? {}).sort()).toEqual(Object.keys(JSON.parse(text) as object).sort())
      expect(read).toEqual(JSON.parse(text))
      expect({}).not.toHaveProperty('a')
    }),

    law('Members that are undefined are left out.', async ({ memory }) => {
      await memory.write('long-term', 'sparse', { a: 1, b: undefined })
      expect(Object.keys((await memory.read<object>('long-term', 'sparse')) ?? {})).toEqual(['a'])
    }),

    law('Changing a value after it was written changes nothing that is stored.', async ({ memory }) => {
      const value = { list: [1], nested: { name: 'before' } }
      const tags = ['before']
      await memory.write('long-term', 'mine', value, { tags })
      value.list.push(2)
      value.nested.name = 'after'
      tags.push('after')
      const record = await memory.read('long-term', 'mine', { includeMetadata: true })
      expect(record?.value).toEqual({ list: [1], nested: { name: 'before' } })
      expect(record?.metadata.tags).toEqual(['before'])
    }),

    law('Changing a value that was read or found changes nothing that is stored.', async ({ memory }) => {
      await memory.write('long-term', 'mine', { list: [1] }, { tags: ['a'] })
      const record = await memory.read<{ list: number[] }>('long-term', 'mine', { includeMetadata: true })
      record?.value.list.push(2)
      record?.metadata.tags.push('b')
      const [match] = await memory.search<{ list: number[] }>('long-term', {})
      match?.value.list.push(3)
      match?.metadata.tags.push('c')
      const after = await memory.read('long-term', 'mine', { includeMetadata: true })
      expect(after?.value).toEqual({ list: [1] })
      expect(after?.metadata.tags).toEqual(['a'])
    }),

    law('A later write replaces the whole entry.', async ({ memory }) => {
      await memory.write('long-term', 'goal', { a: 1, b: 2, type: 'goal' }, { tags: ['old'] })
      await memory.write('long-term', 'goal', { c: 3 })
      const record = await memory.read('long-term', 'goal', { includeMetadata: true })
      expect(record).toMatchObject({ value: { c: 3 }, metadata: { tags: [], type: null } })
      expect(record?.value).toEqual({ c: 3 })
    }),

    law('With overwrite false an existing key is a conflict and keeps its value.', async ({ memory }) => {
      await memory.write('long-term', 'once', 1, { overwrite: false })
      await refused('CONFLICT', () => memory.write('long-term', 'once', 2, { overwrite: false }))
      expect(await memory.read('long-term', 'once')).toBe(1)
    }),
  ],
}
