import { MemoryErrorCode } from '@recall/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { applyDistill, planDistill } from './distill.ts'

const section = (heading: string, length: number) =>
  [
    `## ${heading}`,
    ...Array.from({ length: length - 2 }, (_, index) => `- ${heading} fact ${index}`),
    '',
  ].join('\n')

const memory = [
  '# Memory',
  '',
  section('Preferences', 20),
  section('Debugging', 150),
  section('Über API', 80),
  '',
].join('\n')

it('proposes to move the heaviest sections, as few as bring the memory within its limit', () => {
  const plan = planDistill(memory)
  expect(plan).toMatchObject({ lines: 252, limit: 200 })
  expect(plan.sections.map(({ heading, lines }) => [heading, lines])).toEqual([
    ['Debugging', 150],
    ['Über API', 80],
    ['Preferences', 20],
  ])
  expect(plan.extractions).toEqual([
    {
      heading: 'Debugging',
      fromLine: 23,
      toLine: 172,
      lines: 150,
      topicFile: 'debugging.md',
      pointer: '## Debugging (see [debugging.md](debugging.md))',
    },
  ])
  expect(JSON.parse(JSON.stringify(plan))).toEqual(plan)
})

it('moves a section and leaves one line in its place', () => {
  const { memory: after, topics } = applyDistill(memory, planDistill(memory))
  expect(after).toBe(
    memory.replace(section('Debugging', 150), '## Debugging (see [debugging.md](debugging.md))\n'),
  )
  expect(topics).toEqual({ 'debugging.md': section('Debugging', 150) })
  expect(planDistill(after).extractions).toEqual([])
})

it('adds to the pointer of a section that has grown again', () => {
  const grown = applyDistill(memory, planDistill(memory)).memory.replace(
    /(## Debugging.*\n)/,
    `$1${'more\n'.repeat(150)}`,
  )
  const [extraction] = planDistill(grown, { existingTopics: ['debugging.md'] }).extractions
  expect(extraction?.topicFile).toBe('debugging-2.md')
  const pointer = '## Debugging (see [debugging.md](debugging.md), [debugging-2.md](debugging-2.md))'
  expect(extraction?.pointer).toBe(pointer)
  const again = section(pointer.slice(3), 250)
  const existingTopics = ['debugging.md', 'debugging-2.md']
  expect(planDistill(again, { existingTopics }).extractions[0]?.pointer).toBe(
    pointer.replace('))', '), [debugging-3.md](debugging-3.md))'),
  )
})

it('leaves a heading of the same level, also below others', () => {
  const text = `# Memory\n\n## All\n\n#${section('Debugging', 150)}\n#${section('People', 100)}`
  expect(planDistill(text).extractions.map(({ pointer }) => pointer)).toEqual([
    '### Debugging (see [debugging.md](debugging.md))',
  ])
})

it('moves the section behind a byte order mark, and leaves the mark', () => {
  const text = `\uFEFF${section('Debugging', 250)}${section('People', 5)}`
  const { memory: after, topics } = applyDistill(text, planDistill(text))
  expect(after).toMatch(/^\uFEFF## Debugging \(see/)
  expect(topics['debugging.md']).toBe(section('Debugging', 250))
})

it('moves sections of eight lines and more, of equal ones the first, no more than it takes', () => {
  const moved = (lengths: number[], limit: number) =>
    planDistill(lengths.map((length, index) => `${section(`S${index}`, length)}\n`).join(''), {
      limit,
    }).extractions.map(({ heading }) => heading)
  expect(moved([7, 8], 1)).toEqual(['S1'])
  expect(moved([8, 8], 13)).toEqual(['S0'])
  // A heading and the blank line behind it stay.
  expect(moved([8, 8], 9)).toEqual(['S0', 'S1'])
})

it('ends a section where a heading of a higher level stands', () => {
  const text = ['## A', 'x', '# Part', 'y', '## B', 'z'].join('\n')
  expect(planDistill(text).sections.map(({ lines }) => lines)).toEqual([2, 2])
})

it.each([
  ['the highest level that occurs twice', '### a\n# One\n### b\n## B\n### c\n## D\n', ['B', 'D']],
  ['the deepest level, if each occurs once', '# One\n### c\n## B\n', ['c']],
  ['no title by itself', '# One\ntext\n', []],
  ['no mark within a line', 'See # A\n\n# One #2 #  \n\n#Two\n\n# C# ##\n', ['One #2', 'C#']],
])('divides a text at %s', (_, text, headings) => {
  expect(planDistill(text).sections.map(({ heading }) => heading)).toEqual(headings)
})

it('counts what is below a deeper heading to the section', () => {
  const { sections } = planDistill('## A\n### a\nx\n## B\n### b\nx\ny\n')
  expect(sections.map(({ heading, fromLine, toLine }) => [heading, fromLine, toLine])).toEqual([
    ['B', 4, 7],
    ['A', 1, 3],
  ])
})

it('leaves a text without a line end at its end, and a section without a blank line, so', () => {
  const text = [section('A', 20).trimEnd(), section('B', 20).trimEnd(), 'end'].join('\n')
  const { memory: after } = applyDistill(text, planDistill(text, { limit: 10 }))
  expect(after).toBe('## A (see [a.md](a.md))\n## B (see [b.md](b.md))')
})

it('keeps the line endings of Windows', () => {
  const text = memory.replaceAll('\n', '\r\n')
  const { memory: after, topics } = applyDistill(text, planDistill(text))
  expect(`${after}${Object.values(topics).join('')}`).not.toMatch(/(?<!\r)\n/)
  const plain = applyDistill(memory, planDistill(memory))
  expect(after).toBe(plain.memory.replaceAll('\n', '\r\n'))
  expect(topics['debugging.md']).toBe(section('Debugging', 150).replaceAll('\n', '\r\n'))
})

it('gives a topic file a name that file systems can hold', () => {
  const [extraction] = planDistill(section(`${'a'.repeat(59)} ${'long heading '.repeat(30)}`, 40), {
    limit: 9,
  }).extractions
  expect(extraction?.topicFile).toBe(`${'a'.repeat(59)}.md`)
})

it('takes comments in front matter for no headings', () => {
  const text = `---\n# of this file\ntags: [a]\n---\n\n${memory}`
  expect(planDistill(text).extractions).toMatchObject([{ heading: 'Debugging', lines: 150 }])
  const { memory: after } = applyDistill(text, planDistill(text))
  expect(after).toBe(
    text.replace(section('Debugging', 150), '## Debugging (see [debugging.md](debugging.md))\n'),
  )
  expect(planDistill(`---\n\n${memory}`).sections).toHaveLength(3)
})

it('moves what is commented out as a whole', () => {
  const old = `<!-- of last year\n${section('Old', 30)}\n-->\n`
  const text = `# Memory\n\n${section('Preferences', 20)}\n${old}\n${section('Debugging', 150)}`
  expect(planDistill(text).sections.map(({ heading }) => heading)).toEqual(['Debugging', 'Preferences'])
  const { topics } = applyDistill(text, planDistill(text, { limit: 10 }))
  expect(topics['preferences.md']).toContain(old.trim())
  // In code it is no comment.
  const code = `# Memory\n\n\`\`\`html\n<!--\n\`\`\`\n\n${section('Preferences', 20)}`
  expect(planDistill(code).sections).toHaveLength(1)
})

it('leaves a memory within its limit alone', () => {
  const plan = planDistill(memory, { limit: 252 })
  expect(plan.extractions).toEqual([])
  expect(applyDistill(memory, plan)).toEqual({ memory, topics: {} })
})

it('names topic files after headings, never over an existing one, the memory itself or a device', () => {
  const text = [
    section('Debugging', 40),
    section('Debugging!', 40),
    section('MEMORY', 40),
    section('🎉', 40),
    section('CON', 40),
  ].join('\n')
  const { extractions } = planDistill(text, { limit: 20, existingTopics: ['Debugging.md'] })
  expect(extractions.map(({ topicFile }) => topicFile)).toEqual([
    'debugging-2.md',
    'debugging-3.md',
    'memory-notes.md',
    'topic.md',
    'con-notes.md',
  ])
})

it.each([
  ['Über API', 'uber-api.md'],
  ['Straße', 'strasse.md'],
  ['हिन्दी में', 'हिन्दी-में.md'],
  ['ガイド', 'ガイド.md'],
  ['ที่นี่', 'ที่นี่.md'],
  ['⚙\ufe0f Setup', 'setup.md'],
])('names the topic file of %s by whole words', (heading, topicFile) => {
  const memory = section(heading, 40)
  const plan = planDistill(memory, { limit: 9 })
  expect(plan.extractions[0]?.topicFile).toBe(topicFile)
  expect(applyDistill(memory, plan).topics).toHaveProperty([topicFile])
})

it('makes no name of a secret in a heading, which stays in the text', () => {
  const heading = `Keys ghp_${'a1B2'.repeat(9)}`
  const memory = section(heading, 40)
  const plan = planDistill(memory, { limit: 9 })
  expect(plan.extractions).toMatchObject([{ heading, topicFile: 'keys-redacted-github.md' }])
  expect(applyDistill(memory, plan).topics).toEqual({ 'keys-redacted-github.md': memory })
})

it('takes no heading from inside a code block', () => {
  const text = ['## One', '```', '## not a heading', '```', '## Two', 'x'].join('\n')
  expect(planDistill(text).sections.map(({ heading }) => heading)).toEqual(['One', 'Two'])
})

it.each(['```', '````'])('ends a code block of %s only where that is closed', (fence) => {
  const code = [`${fence}md`, '```js', '## not a heading', fence]
  const text = ['## One', ...code, '## Two', 'x'].join('\n')
  expect(planDistill(text).sections.map(({ heading }) => heading)).toEqual(['One', 'Two'])
})

it('refuses a plan for another text, and one that was tampered with', () => {
  const plan = planDistill(memory)
  expect(() => applyDistill(`${memory} `, plan)).toThrow(expect.objectContaining({ code: 'MEMORY_CONFLICT' }))
  const extraction = plan.extractions[0]
  for (const change of [
    { topicFile: '../escape.md' },
    { topicFile: 'MEMORY.md' },
    { toLine: 9999 },
    { toLine: 22 },
    { fromLine: 0 },
  ]) {
    const changed = { ...plan, extractions: [{ ...extraction, ...change } as NonNullable<typeof extraction>] }
    expect(() => applyDistill(memory, changed)).toThrow(
      expect.objectContaining({ code: 'MEMORY_INVALID_INPUT' }),
    )
  }
  const both = planDistill(memory, { limit: 30 })
  const same = both.extractions.map((each) => ({ ...each, topicFile: 'one.md' }))
  expect(same).toHaveLength(2)
  expect(() => applyDistill(memory, { ...both, extractions: same })).toThrow(
    expect.objectContaining({ code: 'MEMORY_INVALID_INPUT' }),
  )
})

it('never loses a line, whatever the text', () => {
  const line = fc.oneof(
    fc.constantFrom('# A', '## A', '## B', '### C', '```', '', '  ', '- fact', 'text\r'),
    fc.string().filter((value) => !value.includes('\n')),
  )
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 120 }),
      fc.integer({ min: 1, max: 60 }),
      fc.boolean(),
      (lines, limit, ends) => {
        const text = lines.join('\n') + (ends ? '\n' : '')
        const { memory: after, topics } = applyDistill(text, planDistill(text, { limit }))
        const left = [after, ...Object.values(topics)].flatMap((part) => part.split('\n'))
        const count = (all: string[], wanted: string) => all.filter((each) => each === wanted).length
        for (const each of new Set(lines.filter((value) => value.trim() !== ''))) {
          expect(count(left, each)).toBeGreaterThanOrEqual(count(lines, each))
        }
      },
    ),
    { numRuns: 300 },
  )
})

it('does not move all there is away from under its title', () => {
  expect(planDistill(`# Memory\n\n${'A line.\n'.repeat(40)}`, { limit: 9 }).extractions).toEqual([])
})

it('keeps more lines than a call can have arguments', () => {
  const beginning = 'a line\n'.repeat(200_000)
  const text = `${beginning}${memory}`
  expect(applyDistill(text, planDistill(text)).memory.startsWith(beginning)).toBe(true)
})

it('reads a heading of many blanks in time that grows with its length', () => {
  const blank = ' '.repeat(200_000)
  const { sections } = planDistill(`## One${blank}!\ntext\n##${blank}\n## Two${blank}##\ntext\n`)
  expect(sections.map(({ heading }) => heading.replace(blank, ' '))).toEqual(['One !', 'Two'])
})

const refused = (message: string) =>
  expect.objectContaining({
    code: MemoryErrorCode.INVALID_INPUT,
    message: expect.stringContaining(message),
  })

it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '100'])('refuses a limit of %s lines', (limit) => {
  const told = refused(`limit must be a whole number from 1 to 9007199254740991, not ${limit}`)
  expect(() => planDistill(memory, { limit: limit as number })).toThrow(told)
})

it('refuses an option that there is not', () => {
  const misspelt = { limits: 100 } as object
  expect(() => planDistill(memory, misspelt)).toThrow(refused('Unrecognized key: "limits"'))
})
