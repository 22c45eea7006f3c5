import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSlug, parseSections, sectionEntries, withoutSection, withSection } from './sections.ts'

const line = fc.constantFrom(
  '## People\n',
  '## Places\n',
  '## People\n',
  'text\n',
  '\n',
  '```\n',
  '~~~\n',
  '---\n',
  '<!-- aside\n',
  '-->\n',
  '## \n',
  '#\n',
  'a  \t\r\n',
  '  ## not one\n',
  '### third\n',
)
const file = fc.array(line).map((lines) => lines.join(''))
const rest = (content: string, slug: string): string[] =>
  parseSections(content)
    .filter((each) => each.slug !== slug)
    .map(({ heading, body }) => `${heading}:${body.trim()}`)

describe('sections', () => {
  it('together are the whole file', () => {
    fc.assert(
      fc.property(file, (content) => {
        const lines = content.split(/(?<=\n)/)
        const whole = parseSections(content).map(({ heading, body, line: at }) =>
          heading === '' && at === 1 ? body : lines[at - 1] + body,
        )
        expect(whole.join('')).toBe(content)
      }),
    )
  })

  it('are written without changing any other', () => {
    fc.assert(
      fc.property(
        file,
        fc.constantFrom('people', 'places', 'new', 'intro'),
        fc.constantFrom('text', 'a\n\nb', '', '```\ncode\n```', '```\nopen'),
        (content, slug, text) => {
          let changed: string
          try {
            changed = withSection(content, slug, text)
          } catch {
            return
          }
          expect(
            parseSections(changed)
              .find((each) => each.slug === slug)
              ?.body.trim()
              .replaceAll('\r\n', '\n'),
          ).toBe(text.trim())
          expect(rest(changed, slug)).toEqual(rest(content, slug))
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('refuse a code block that would swallow what follows', () => {
    expect(() => withSection('## A\n\na\n\n## B\n\nb\n', 'a', '```\nopen')).toThrow('code block')
    expect(() => withSection('```\nopen', 'a', 'text')).toThrow('code block')
  })

  it('take no heading from a code block within a code block', () => {
    const content = '## A\n\n```md\n```js\n## B\n```\n\n## C\n'
    expect(parseSections(content).map(({ slug }) => slug)).toEqual(['intro', 'a', 'c'])
  })

  it('keep their name when their text is moved to another file, and are no entries until they have one again', () => {
    const moved = '## People (see [people.md](people.md))\n\n## Next (see the log)\n\nx\n'
    const keysIn = (content: string) =>
      sectionEntries(content, 'MEMORY.md', { modified: 0 }).map(({ key }) => key)
    expect(parseSections(moved).map(({ slug }) => slug)).toEqual(['intro', 'people', 'next-see-the-log'])
    expect(keysIn(moved)).toEqual(['MEMORY.md#next-see-the-log'])
    const grown = withSection(moved, 'people', 'Ana is back.')
    expect(grown).toBe(
      '## People (see [people.md](people.md))\n\nAna is back.\n\n## Next (see the log)\n\nx\n',
    )
    expect(keysIn(grown)).toEqual(['MEMORY.md#people', 'MEMORY.md#next-see-the-log'])
    expect(withoutSection(grown, 'people')).toBe('## Next (see the log)\n\nx\n')
  })

  it('end a code block with the list item in which it stands', () => {
    const content = '## A\n\n- ```sh\n  ## x\n  ```\n\n## B\n\n1. ~~~\n   open\n\n## C\n'
    expect(parseSections(content).map(({ slug }) => slug)).toEqual(['intro', 'a', 'b', 'c'])
    expect(withSection(content, 'a', '- ```\n  ## y\n  ```')).toContain(
      '## A\n\n- ```\n  ## y\n  ```\n\n## B',
    )
  })

  it('begin with a heading of the second level alone, at the beginning of a line', () => {
    const content = 'See ## A\n### B\n#### C\n  ## D\n##E\n##\n## F ##\n## C#\n'
    expect(parseSections(content).map(({ heading }) => heading)).toEqual(['', 'F', 'C#'])
  })

  it('are entries, and what stands before them only where it says something', () => {
    const keysOf = (content: string): string[] =>
      sectionEntries(content, 'MEMORY.md', { modified: 0 }).map(({ key }) => key)
    expect(keysOf('\n \n## A\n\n## B\n\nb\n')).toEqual(['MEMORY.md#a', 'MEMORY.md#b'])
    expect(keysOf('# T\n## A\n')).toEqual(['MEMORY.md#intro', 'MEMORY.md#a'])
    expect(keysOf('# T\n## Intro\n')).toEqual(['MEMORY.md#intro', 'MEMORY.md#intro-2'])
    expect(keysOf('')).toEqual([])
  })

  it.each([
    ['', 'new', '## New\n\ntext\n'],
    ['# T', 'new', '# T\n\n## New\n\ntext\n'],
    ['# T\n\n', 'new', '# T\n\n## New\n\ntext\n'],
    ['## A\n\na\n## B\nb\n', 'a', '## A\n\ntext\n\n## B\nb\n'],
    ['## A\n\na\n## B\nb\n\n', 'b', '## A\n\na\n## B\n\ntext\n'],
    ['# T\n## A\n', 'intro', 'text\n\n## A\n'],
    ['\n## A\n', 'intro', 'text\n\n## A\n'],
  ])('are set off by a blank line: %j with %s', (content, slug, changed) => {
    expect(withSection(content, slug, '\n text \n')).toBe(changed)
  })

  it('leave the others when what stands before them goes', () => {
    expect(withoutSection('# T\n\n## A\n\na\n', 'intro')).toBe('## A\n\na\n')
    expect(withoutSection('\n## A\n\na\n', 'intro')).toBe(null)
  })

  it('go without a trace, the others staying byte for byte', () => {
    expect(withoutSection('# T\r\n\n## A\n\na\n\n## B  \n\n b\n', 'a')).toBe('# T\r\n\n## B  \n\n b\n')
    expect(withoutSection('## A\n', 'b')).toBe(null)
  })

  it('do not move down the file when they come and go', () => {
    const once = withSection('# T\n', 'a', 'a')
    const gone = withoutSection(once, 'a') as string
    expect(withSection(gone, 'a', 'a')).toBe(once)
    const inWindows = withSection('# T\r\n\r\n', 'a', 'a')
    expect(inWindows).toBe('# T\r\n\r\n## A\r\n\r\na\r\n')
  })

  it('begin behind a byte order mark, which stays where it is', () => {
    const content = '\uFEFF## A\r\n\r\na\r\n\r\n## B\r\n\r\nb\r\n'
    expect(parseSections(content).map(({ slug, line }) => [slug, line])).toEqual([
      ['intro', 1],
      ['a', 1],
      ['b', 5],
    ])
    expect(withoutSection(content, 'a')).toBe('\uFEFF## B\r\n\r\nb\r\n')
    const introduced = withSection(content, 'intro', 'new')
    expect(introduced.lastIndexOf('\uFEFF')).toBe(0)
    expect(parseSections(introduced).map(({ slug }) => slug)).toEqual(['intro', 'a', 'b'])
  })

  it('are found again under the key they were written with, or are none', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[\p{L}\p{M}\p{N}-]{1,12}$/u), (slug) => {
        if (isSlug(slug))
          expect(parseSections(withSection('', slug, 'x')).map((each) => each.slug)).toContain(slug)
      }),
    )
    expect(isSlug('Preferences')).toBe(false)
  })

  it.each([
    ['हिन्दी में', 'हिन्दी-में'],
    ['ที่นี่', 'ที่นี่'],
    ['U\u0308ber uns', '\u00fcber-uns'],
    ['İletişim', 'i\u0307letişim'],
    ['⚙\ufe0f Setup 1\ufe0f\u20e3', 'setup-1'],
  ])('are named by whole words: %s', (heading, slug) => {
    expect(parseSections(`## ${heading}\n`).at(-1)?.slug).toBe(slug)
    expect(isSlug(slug)).toBe(true)
  })

  it('have names of their own, also where a heading is numbered or has no letter', () => {
    const slugsOf = (content: string): string[] => parseSections(content).map(({ slug }) => slug)
    expect(slugsOf('## A\n## A 2\n## A\n')).toEqual(['intro', 'a', 'a-2', 'a-3'])
    expect(slugsOf('## ⚙\n## ?\n')).toEqual(['intro', 'section', 'section-2'])
  })

  it('have names of their own, however many have one heading', () => {
    const slugs = parseSections(`${'## Same\n'.repeat(60_000)}## Same 7\n## Same\n`).map(({ slug }) => slug)
    expect(new Set(slugs).size).toBe(60_003)
    expect(slugs.slice(0, 4)).toEqual(['intro', 'same', 'same-2', 'same-3'])
    expect(slugs.slice(-2)).toEqual(['same-7-2', 'same-60001'])
  })
})

it('reads a heading of many marks in time that grows with its length', () => {
  const heading = `${'# '.repeat(200_000)}end`
  expect(parseSections(`## ${heading} ##\n`).at(-1)?.heading).toBe(heading)
})

describe('sections on the sides of a merge', () => {
  const [mine, yours] = ['## A\n\nmine\n', '## B\n\nyours\n']
  const merge = `# T\n<<<<<<< HEAD\n${mine}=======\n${yours}>>>>>>> 51fb131\n## C\n\nc\n`
  const valuesIn = (content: string): unknown[] =>
    sectionEntries(content, 'MEMORY.md', { modified: 0 }).map(({ value }) => value)

  it('do not say what marks the sides, which stays where one is written', () => {
    expect(valuesIn(merge)).toEqual(['# T', 'mine', 'yours', 'c'])
    for (const end of ['\n', '\r\n']) {
      const content = merge.replaceAll('\n', end)
      expect(withSection(content, 'a', 'new')).toBe(content.replace(`mine${end}`, `new${end}${end}`))
      expect(withSection(content, 'b', 'new')).toBe(content.replace(`yours${end}`, `new${end}${end}`))
      expect(withSection(content, 'intro', 'new')).toBe(content.replace('# T', `new${end}`))
    }
  })

  it('leave the marks behind, until both sides are gone', () => {
    const left = merge.replace(mine, '')
    expect(withoutSection(merge, 'a')).toBe(left)
    expect(withoutSection(merge, 'b')).toBe(merge.replace(yours, ''))
    expect(withoutSection(merge, 'intro')).toBe(merge.replace('# T\n', ''))
    expect(withoutSection(left, 'b')).toBe('# T\n## C\n\nc\n')
  })

  it('say all that stands within one of them, and the line below a title', () => {
    const within = '<<<<<<< HEAD\nmine\n=======\nyours\n>>>>>>> 51fb131'
    expect(valuesIn(`## A\n\n${within}\n\n## B\n\nTitle\n=======\n`)).toEqual([within, 'Title\n======='])
    expect(withSection(`## A\n\n${within}\n\n## B\n`, 'a', 'chosen')).toBe('## A\n\nchosen\n\n## B\n')
    expect(withSection('## A\n\nTitle\n=======\n\n## B\n', 'a', 'new')).toBe('## A\n\nnew\n\n## B\n')
    const quoted = '## A\n\n```\n<<<<<<< HEAD\n```\n\n## B\n\nTitle\n=======\n\n```\n>>>>>>> 1\n```\n'
    expect(withoutSection(quoted, 'b')).toBe(quoted.slice(0, quoted.indexOf('## B')))
  })
})
