import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyEntry, entryOf } from '../../test/support.ts'
import {
  appendEntries,
  countLines,
  emptyEchoes,
  parseEchoes,
  printEchoes,
  restOf,
  upgradeEchoes,
  withFields,
  withLearning,
} from './echo-document.ts'
import { normalizeEntry, printEntry } from './entry.ts'

const example = `<!-- echo-schema: v1 -->
# Reviewer Memory

Written by hand: keep me.

### [2026-02-11] Pattern: Unused imports in new files
- **layer**: inscribed
- **source**: rune:review PR #42
- **confidence**: 0.85
- **evidence**: \`src/auth.py:1-5\` — 3 unused imports found
- **owner**: nobody in particular
- **verified**: 2026-02-11
- **supersedes**: none
- Codebase tends to leave unused imports in newly created files.
  Reviewers should flag import hygiene in new files specifically.

A note below the entry.

## A section of a person

### [2026-02-11] Observation: Slow test suite in CI
- **layer**: traced
- **source**: rune:work session-abc
- **confidence**: 0.6
- **evidence**: CI logs — test suite took 8min (vs 3min baseline)
- **verified**: 2026-02-11
- **supersedes**: none
- Test suite is unusually slow today.
`

const anyLine = fc.oneof(
  fc.constantFrom(
    ...example.split('\n'),
    '```',
    '~~~~',
    '### [',
    '### [x] y',
    '- **layer**: etched',
    '\uFEFF',
    '<!-- echo-schema: v7 -->',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
)
const anyFile = fc
  .array(fc.tuple(anyLine, fc.constantFrom('\n', '\r\n', '\r', '')), { maxLength: 40 })
  .map((lines) => lines.flat().join(''))

describe('parseEchoes', () => {
  it('reads the entries of the specification', () => {
    const { schema, blocks } = parseEchoes(example)
    expect(schema).toBe(1)
    expect(blocks.flatMap(({ entry }) => (entry ? [entry] : []))).toEqual([
      {
        date: '2026-02-11',
        kind: 'Pattern',
        title: 'Unused imports in new files',
        layer: 'inscribed',
        source: 'rune:review PR #42',
        confidence: 0.85,
        evidence: '`src/auth.py:1-5` — 3 unused imports found',
        verified: '2026-02-11',
        supersedes: null,
        learning:
          'Codebase tends to leave unused imports in newly created files.\nReviewers should flag import hygiene in new files specifically.',
      },
      expect.objectContaining({ kind: 'Observation', layer: 'traced', confidence: 0.6 }),
    ])
  })

  it('gives back every byte of any file', () => {
    fc.assert(
      fc.property(anyFile, (text) => {
        expect(printEchoes(parseEchoes(text))).toBe(text)
      }),
      { numRuns: 500 },
    )
  })

  it('gives back what was appended, in either line ending', () => {
    fc.assert(
      fc.property(fc.array(anyEntry, { maxLength: 5 }), fc.boolean(), (entries, windows) => {
        const start = printEchoes(emptyEchoes('reviewer'))
        const document = appendEntries(parseEchoes(windows ? start.replaceAll('\n', '\r\n') : start), entries)
        const found = document.blocks.flatMap(({ entry }) => (entry ? [entry] : []))
        expect(found).toEqual(entries.map(normalizeEntry))
        expect(/(?<!\r)\n/.test(printEchoes(document))).toBe(!windows)
      }),
    )
  })

  it('says what is wrong with a malformed entry, and keeps it', () => {
    const { blocks } = parseEchoes('### [2026-02-30] Pattern: x\n- **layer**: carved\n- **confidence**: 2\n')
    expect(blocks[0]?.entry).toBe(undefined)
    expect(blocks[0]?.problems).toEqual([
      'the date of the heading is not a day (YYYY-MM-DD)',
      'layer must be etched, inscribed or traced',
      'source is missing',
      'confidence must be a number from 0.0 to 1.0',
      'evidence is missing',
      'verified must be a day (YYYY-MM-DD)',
      'the learning is missing',
    ])
  })

  it.each([
    ['a paragraph', 'A note below the entry.\n\nAnd another.\n'],
    ['a part of its own', '#### Details\n\n- **verified**: 2020-01-01\n- by hand\n'],
    ['a table', '| a | b |\n|---|---|\n| 1 | 2 |\n'],
    ['code', '```\n- **layer**: etched\n\n- and more\n```\n'],
  ])('takes %s below an entry for no part of it', (_, note) => {
    const entry = printEntry(entryOf())
    const [heading = '', ...fields] = entry.trimEnd().split('\n')
    const learningFirst = `${[heading, fields.pop(), '', ...fields].join('\n')}\n`
    for (const own of [entry, learningFirst]) {
      for (const gap of ['\n', '']) {
        for (const end of ['\n', '\r\n']) {
          const [text, expected] = [own + gap + note, own + gap].map((each) => each.replaceAll('\n', end))
          const [first, ...rest] = parseEchoes(text ?? '').blocks
          expect(first?.text).toBe(expected)
          expect(first?.entry).toEqual(entryOf())
          expect(rest.filter((block) => block.entry ?? block.problems)).toEqual([])
          expect(rest[0]?.line).toBe(countLines(expected ?? '') + 1)
        }
      }
    }
  })

  it('takes the whole list of an entry for its own', () => {
    const list = `${printEntry(entryOf())}- **owner**: ada\n- A second item.\n  It goes on.\n`
    expect(parseEchoes(list).blocks.map(({ text }) => text)).toEqual([list])
  })

  it('finds no entries in code', () => {
    const { blocks } = parseEchoes(`# Notes\n\`\`\`\n${example}\`\`\`\n`)
    expect(blocks.filter(({ entry }) => entry)).toEqual([])
  })

  it('finds no entries in code that shows code', () => {
    const { blocks } = parseEchoes(`# Notes\n\`\`\`md\n\`\`\`js\n${example}\`\`\`\n`)
    expect(blocks.filter(({ entry }) => entry)).toEqual([])
  })

  it.each([
    ['a comment', `<!--\n${printEntry(entryOf())}-->\n`],
    ['a comment that holds half of a fence', `<!--\n\`\`\`\n${printEntry(entryOf())}-->\n`],
  ])('finds no entries in %s, but below it', (_, comment) => {
    const below = entryOf({ title: 'Below' })
    for (const end of ['\n', '\r\n']) {
      const text = `# Notes\n\n${comment}\n${printEntry(below)}`.replaceAll('\n', end)
      const { blocks } = parseEchoes(text)
      expect(blocks.flatMap(({ entry }) => (entry ? [entry] : []))).toEqual([below])
      expect(blocks.map((block) => block.text).join('')).toBe(text)
      expect(blocks.some((block) => block.text.includes('<!--') && block.text.includes('-->'))).toBe(true)
    }
  })

  it('finds the entries below a comment that nobody closed, and below a mark that closes none', () => {
    for (const mark of ['<!-- so', '-->', '```\n<!--\n```', 'text <!--']) {
      const arrows = { title: 'a --> b', evidence: '`x` --> y', learning: 'Go --> on.\nSo --> there.' }
      const below = entryOf(arrows)
      expect(parseEchoes(`${mark}\n${printEntry(below)}`).blocks.at(-1)?.entry).toEqual(below)
    }
  })

  it('takes no field and no learning of an entry from a comment in it, and changes none there', () => {
    const comment = '<!--\n- **layer**: etched\n- Once it said that.\n-->\n'
    const [heading = '', ...rest] = printEntry(entryOf()).split(/(?<=\n)/)
    const [block] = parseEchoes(heading + comment + rest.join('')).blocks
    if (!block) throw new Error('no block')
    expect(block.entry).toEqual(entryOf())
    expect(withFields(block, { layer: 'traced' }).text).toBe(
      block.text.replace('layer**: inscribed', 'layer**: traced'),
    )
    expect(withLearning(block, 'Now this.').text).toBe(block.text.replace(entryOf().learning, 'Now this.'))
    expect(restOf(block)).toContain('**layer**: etched')
  })

  it('reads many comments at once', () => {
    const entry = printEntry(entryOf())
    for (const comment of ['<!--\n', '<!--\nnot one\n-->\n']) {
      expect(parseEchoes(`${comment.repeat(50_000)}${entry}`).blocks.at(-1)?.entry).toEqual(entryOf())
    }
  })

  it('takes code in a learning for no end of a fence that nobody closed', () => {
    const etched = entryOf({ layer: 'etched', title: 'a' })
    const shows = entryOf({ title: 'b', learning: 'Run:\n```\nnpm test\n```' })
    const document = appendEntries(parseEchoes(`# Notes\n\n\`\`\`\n\n${printEntry(etched)}`), [shows])
    expect(document.blocks.flatMap(({ entry }) => (entry ? [entry] : []))).toEqual([etched, shows])
  })

  it('reads many fences that nobody closed at once', () => {
    const entry = printEntry(entryOf())
    const text = `${'```js\n~~~~\n````\n'.repeat(20_000)}${entry}`
    expect(parseEchoes(text).blocks.at(-1)?.entry).toEqual(entryOf())
  })

  it('reads a huge line at once', () => {
    const line = `### [2026-02-11] ${'a: '.repeat(200_000)}\n- **layer**: ${' '.repeat(200_000)}x\n`
    expect(printEchoes(parseEchoes(line))).toBe(line)
  })
})

it('changes fields and the learning of an entry, and no other byte', () => {
  for (const text of [example, example.replaceAll('\n', '\r\n')]) {
    const { blocks } = parseEchoes(text)
    const [block] = blocks.filter(({ entry }) => entry)
    if (!block) throw new Error('no entry')
    expect(withFields(block, { verified: '2026-03-01', confidence: 1 }).text).toBe(
      block.text.replace('verified**: 2026-02-11', 'verified**: 2026-03-01').replace('0.85', '1.0'),
    )
    expect(withLearning(block, 'Short.').text).toBe(
      block.text.replace(/- Codebase[\s\S]*specifically\./, '- Short.'),
    )
  }
})

it('gives a file written by hand a schema header, once', () => {
  const upgraded = upgradeEchoes(parseEchoes('# Mine\r\n'))
  expect(printEchoes(upgraded)).toBe('<!-- echo-schema: v1 -->\r\n# Mine\r\n')
  expect(upgradeEchoes(upgraded)).toBe(upgraded)
})

it('puts the schema header behind a byte order mark', () => {
  const upgraded = upgradeEchoes(parseEchoes('\uFEFF# Mine\n'))
  expect(printEchoes(upgraded)).toBe('\uFEFF<!-- echo-schema: v1 -->\n# Mine\n')
  expect(upgraded.schema).toBe(1)
})

it.each(['\n', '\r\n'])('appends behind a last line that nobody ended, with %j', (newline) => {
  const text = `# Mine${newline}${newline}A note.`
  const lines = printEntry(entryOf()).replaceAll('\n', newline)
  expect(printEchoes(appendEntries(parseEchoes(text), [entryOf()]))).toBe(
    `${text}${newline}${newline}${lines}`,
  )
})

it('counts lines as an editor does', () => {
  expect(['', 'a', 'a\n', 'a\nb', '\n\n'].map(countLines)).toEqual([0, 1, 1, 2, 2])
})

it('refuses to print what could not be read back', () => {
  const [entry] = parseEchoes(example).blocks.flatMap((block) => (block.entry ? [block.entry] : []))
  if (!entry) throw new Error('no entry')
  expect(() => printEntry({ ...entry, verified: 'yesterday', confidence: 1.5 })).toThrow(
    expect.objectContaining({ code: 'MEMORY_INVALID_INPUT' }),
  )
  expect(printEntry({ ...entry, title: 'two\nlines' })).toContain('### [2026-02-11] Pattern: two lines\n')
})

it('reads a confidence of many digits in time that grows with their number', () => {
  const text = printEntry(entryOf()).replace(/(confidence\*\*): .*/, `$1: ${'1'.repeat(200_000)}x`)
  expect(parseEchoes(text).blocks[0]?.problems).toEqual(['confidence must be a number from 0.0 to 1.0'])
})
