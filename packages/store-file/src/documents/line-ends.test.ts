import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { archiveIndexHeader, withArchiveRows } from './archive-index.ts'
import { linesOf } from './line-ends.ts'
import { sectionEntries, withSection } from './sections.ts'
import { windowEntries, withSession } from './window.ts'

const times = { modified: 0 }
const windows = (text: string): string => text.replaceAll('\n', '\r\n')
const session = (sessionId: string, summary: string) => ({
  sessionId,
  date: '2026-03-05T10:00:00.000Z',
  duration: '3m',
  messageCount: 4,
  summary,
  archive: `conversation:${sessionId}`,
})

describe('a file whose lines end as on Windows', () => {
  it('keeps its line ends when a section is written, which reads as it was written', () => {
    const file = fc.array(fc.constantFrom('# T\n', '## People\n', '## Places\n', 'text\n', '\n'), {
      minLength: 1,
    })
    const text = fc.array(fc.constantFrom('a', '\n', '\r\n', '- b', '\r', ' ')).map((parts) => parts.join(''))
    fc.assert(
      fc.property(file, fc.constantFrom('people', 'new', 'intro'), text, (lines, slug, value) => {
        const written = withSection(windows(lines.join('')), slug, value)
        expect(written).not.toMatch(/(?<!\r)\n/)
        const read = sectionEntries(written, 'MEMORY.md', times).find(
          ({ key }) => key === `MEMORY.md#${slug}`,
        )
        expect(read?.value ?? '').toBe(value.trim())
      }),
    )
  })

  it('keeps them when a session or an archive is noted', () => {
    const file = windows(withSession('# Now\n\nby hand\n', session('a', 'one'), 'a.md'))
    const written = withSession(file, session('b', 'two\n\nlines'), 'a.md')
    expect(written).not.toMatch(/(?<!\r)\n/)
    expect(windowEntries(written, times).map(({ value }) => value)).toEqual([
      session('a', 'one'),
      session('b', 'two\n\nlines'),
      '# Now\n\nby hand',
    ])
    const table = windows(`${archiveIndexHeader}| 001 | a |\n\nmine\n`)
    expect(withArchiveRows(table, new Map([[1, '| 001 | b |\n']]))).toBe(table.replace('001 | a', '001 | b'))
    expect(withArchiveRows(table, new Map([[2, '| 002 | c |\n']]))).toBe(
      table.replace('| 001 | a |\r\n', '| 001 | a |\r\n| 002 | c |\r\n'),
    )
  })
})

it('leaves the lines of a file with line ends of both kinds as they are', () => {
  const file = '# T\r\n\n## A\r\n\r\na\n'
  expect(withSection(file, 'b', 'c\r\nd')).toBe(`${file}\n## B\n\nc\r\nd\n`)
})

it('splits a text behind each line end, and nowhere else', () => {
  const text = fc
    .array(fc.constantFrom('a', ' ', '\n', '\r\n', '\r', '\u2028'))
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, (whole) => {
      expect(linesOf(whole)).toEqual(whole.split(/(?<=\n)/))
    }),
  )
})
