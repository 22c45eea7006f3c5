import { MemoryErrorCode } from '@recall/core'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { parseFrontMatter, printFrontMatter } from './front-matter.ts'

/** What a library takes for a number is kept as it was typed, in fields that count nothing. */
const withNumbers = (fields: object): string => {
  const numbers: Record<string, number | null> = { '1e3': 1000, '0x1f': 31, '.inf': null }
  return JSON.stringify(fields, (_, value) => (value in numbers ? numbers[value] : value))
}

const fieldsOf = (source: string) => parseFrontMatter(`---\n${source}\n---\nbody`)

describe('front matter', () => {
  it('reads what it prints', () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.integer(),
      fc.boolean(),
      fc.array(fc.string({ unit: 'binary' })),
    )
    const name = fc.stringMatching(/^[a-z][a-z_]{0,8}$/)
    fc.assert(
      fc.property(fc.dictionary(name, value, { noNullPrototype: true }), (fields) => {
        expect(parseFrontMatter(`${printFrontMatter(fields)}body`)).toMatchObject({ fields, body: 'body' })
      }),
      { numRuns: 500 },
    )
  })

  it.each(['\u2028', '\u2029', '\r'])('does not end within a text at a rule after %j', (separator) => {
    const fields = { text: `above${separator}---${separator}below` }
    expect(parseFrontMatter(`${printFrontMatter(fields)}body`)).toMatchObject({ fields, body: 'body' })
  })

  it('does not take a file for one without fields when the YAML library is missing', () => {
    const load = vi.spyOn(process, 'getBuiltinModule').mockImplementation(() => {
      throw new Error('Cannot find module')
    })
    try {
      expect(() => fieldsOf('tags: [a, b]')).toThrow(
        expect.objectContaining({ code: MemoryErrorCode.UNAVAILABLE }),
      )
    } finally {
      load.mockRestore()
    }
  })

  it('reads plain lines as the YAML library does', () => {
    const word = fc.constantFrom(
      'true',
      'No',
      'null',
      '12',
      '1e3',
      '0x1f',
      '~',
      'a b',
      'a: b',
      'x#y',
      'x #y',
      '- a',
      '"q"',
      "'q'",
      '[1, "a"]',
      '[a]',
      '{a: 1}',
      '.inf',
      '2026-01-01',
      'word',
      '&a',
      '*a',
      '!x',
      '|',
      '%',
    )
    const line = fc
      .tuple(fc.constantFrom('ttl', 'log', 'part', '__proto__', 'a b', '"q"', '1'), word)
      .map(([name, text]) => `${name}: ${text}`)
    fc.assert(
      fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
        let expected: unknown
        try {
          const options = {
            schema: 'core',
            maxAliasCount: 0,
            merge: false,
            uniqueKeys: true,
            logLevel: 'error',
          } as const
          expected = parse(lines.join('\n'), options) ?? {}
        } catch {
          expected = undefined
        }
        const { fields, problem } = fieldsOf(lines.join('\n'))
        if (problem === undefined) expect(withNumbers(fields)).toBe(JSON.stringify(expected))
        else
          expect(expected === undefined || typeof expected !== 'object' || Array.isArray(expected)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it('keeps a number as it was typed, but where something is counted', () => {
    const typed = ['3.10', '007', '0x1f', '7e100000', '12345678901234567890', '.inf', '1e3', '7', '-0.5']
    const asTyped = [...typed.slice(0, 7), 7, -0.5]
    for (const end of ['', '# quick no more']) {
      expect(typed.map((text) => fieldsOf(`tag: ${text}\n${end}`).fields.tag)).toEqual(asTyped)
      expect(fieldsOf(`tags: [${typed.join(', ')}]\n${end}`).fields.tags).toEqual(asTyped)
      expect(fieldsOf(`deep: [[3.10]]\n${end}`).fields.deep).toEqual([['3.10']])
      expect(fieldsOf(`ttl: 1e3\npart: 2.0\n${end}`).fields).toEqual({ ttl: 1000, part: 2 })
    }
  })

  it('says so when it is a list or a number', () => {
    expect(fieldsOf('- 3.10').problem).toBe('front matter is not a list of fields')
    expect(fieldsOf('3.10').problem).toBe('front matter is not a list of fields')
    expect(fieldsOf('? \n: 3.10').fields).toEqual({ '': '3.10' })
  })

  it.each([
    ['an alias', 'a: &x [1]\nb: *x'],
    [
      'a bomb of aliases',
      `a: &a [x]\n${['b', 'c', 'd'].map((n, i) => `${n}: &${n} [${`*${'abc'[i]},`.repeat(9)}]`).join('\n')}`,
    ],
    ['deep nesting', '['.repeat(20_000)],
    ['a key twice', 'a: 1\na: 2'],
    ['a list', '- a\n- b'],
    ['an unclosed quote', 'a: "x'],
    ['a tab for indentation', 'a:\n\t- b'],
  ])('keeps the whole file as text and says why: %s', (_name, source) => {
    const text = `---\n${source}\n---\nbody`
    const { fields, body, problem } = parseFrontMatter(text)
    expect({ fields, body }).toEqual({ fields: {}, body: text })
    expect(problem).toBeTruthy()
  })

  it('pollutes no prototype', () => {
    fieldsOf('__proto__:\n  polluted: true\nconstructor: {prototype: {polluted: true}}')
    expect(({} as { polluted?: boolean }).polluted).toBe(undefined)
  })

  it.each([
    '---\na: 1\nno end',
    `---\na: "${'x'.repeat(64 * 1024)}"\n---\n`,
    `---\n${'k'.repeat(2 ** 20)}: 1\n---\n`,
  ])('is not looked for beyond its bound', (text) => {
    expect(parseFrontMatter(text)).toMatchObject({ fields: {}, body: text })
  })

  it('has no list or mapping for a name, however deep', () => {
    for (const depth of [1, 3, 90]) {
      expect(parseFrontMatter(`---\n${'? '.repeat(depth)}\n? [a]\n---\nbody\n`)).toMatchObject({
        fields: {},
        problem: expect.stringContaining('for the name of a field'),
      })
    }
  })

  it('is not parsed when it is nested deeper than a stack is', () => {
    const json = '['.repeat(5000) + ']'.repeat(5000)
    for (const deep of [...['? ', '- ', '[', '{a: '].map((token) => token.repeat(5000)), json]) {
      const text = `---\na: ${deep}\n---\nbody\n`
      expect(parseFrontMatter(text)).toMatchObject({ problem: 'front matter is nested too deep', body: text })
    }
  })

  it('may have Windows line ends and a byte order mark', () => {
    expect(parseFrontMatter('\ufeff---\r\na: 1\r\nb: [x]\r\n---\r\nbody\r\n')).toMatchObject({
      fields: { a: 1, b: ['x'] },
      body: 'body\r\n',
      bodyLine: 5,
    })
  })

  it('never fails, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { body } = parseFrontMatter(`---\n${text}`)
        expect(`---\n${text}`.endsWith(body)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })
})
