import { redactText } from '@recall/core'
import { describe, expect, it } from 'vitest'
import { parseFrontMatter } from './documents/front-matter.ts'
import { redactDocument } from './scrub-document.ts'

const token = `ghp_${'aB3d'.repeat(9)}`
const clean = (content: string): string => redactDocument(content, redactText).text

describe('a file without its secrets', () => {
  it.each([
    [`owner: ${token} and more`, { owner: '[redacted:github] and more' }],
    [`type: ${token}\ntags: [a, ${token}]`, { type: '[redacted:github]', tags: ['a', '[redacted:github]'] }],
    [`tags:\n  - ${token}\n  - ok`, { tags: ['[redacted:github]', 'ok'] }],
    [
      `db:\n  password: hunter2hunter2\n  host: here`,
      { db: { password: '[redacted:password]', host: 'here' } },
    ],
    [`pin: 4711`, { pin: '[redacted:pin]' }],
    [`text: 'the ${token}' # mine`, { text: 'the [redacted:github]' }],
  ])('has front matter that can be read: %s', (source, fields) => {
    const text = clean(`---\n# kept\nother: 'as it is' # too\n${source}\n---\nthe body\n`)
    expect(text).toContain("# kept\nother: 'as it is' # too\n")
    expect(parseFrontMatter(text)).toMatchObject({
      fields: { ...fields, other: 'as it is' },
      body: 'the body\n',
    })
    expect(redactDocument(text, redactText)).toEqual({ text, counts: {} })
  })

  it('has comments without them, and keeps line ends', () => {
    const content = `---\r\n# ${token}\r\na: b\r\nc: ${token}\r\n---\r\npassword: hunter2hunter2\r\n`
    expect(clean(content)).toBe(
      '---\r\n# [redacted:github]\r\na: b\r\nc: "[redacted:github]"\r\n---\r\npassword: [redacted:password]\r\n',
    )
  })

  it('holds JSON that can be read, without what only a member’s name shows to be one', () => {
    const json = '{"password": ["hunter2hunter2"], "bank": {"pin": 4711, "who": "gnu"}}'
    const { text, counts } = redactDocument(
      `---\nformat: json\n---\n\`\`\`json\n${json}\n\`\`\`\n`,
      redactText,
    )
    expect(JSON.parse(/```json\n([\s\S]*)\n```/.exec(text)?.[1] ?? '')).toEqual({
      password: ['[redacted:password]'],
      bank: { pin: '[redacted:pin]', who: 'gnu' },
    })
    expect(counts).toEqual({ password: 1, pin: 1 })
  })

  it.each([
    ['', 'no front matter, but ', ''],
    ['---\n', 'a rule, not front matter, and ', '\n'],
    ['---\nnot: [yaml\n---\n', 'what cannot be read, but ', ''],
    ['---\nformat: json\n---\n', 'no JSON, but ', ''],
  ])('is cleaned as a text where it has no fields: %j', (before, text, after) => {
    expect(clean(`${before}${text}${token}${after}`)).toBe(`${before}${text}[redacted:github]${after}`)
  })

  it('is the same where there are none', () => {
    const content = '---\nb: 1\na:   x # y\nformat: json\n---\n{"a":\n1}'
    expect(redactDocument(content, redactText)).toEqual({ text: content, counts: {} })
  })

  it('is refused where it could not be read any more', () => {
    const sabotaged = (text: string) => ({ text: text.replace('x: y', 'x: ['), counts: {} })
    expect(() => redactDocument('---\nx: y\n---\n', sabotaged)).toThrow('take it out by hand')
  })
})
