import { expect, it } from 'vitest'
import {
  archiveIndexHeader,
  archiveRows,
  datesInTable,
  printArchiveRow,
  sessionInRow,
  sessionsInTable,
  withArchiveRows,
  withBothSides,
  withoutArchiveRows,
} from './archive-index.ts'

const row = (number: number, what: string): string => `| ${String(number).padStart(3, '0')} | ${what} |\n`

it('adds rows to its own table, not to one that people made below', () => {
  const theirs = '\n| why | what |\n|---|---|\n| a | b |\n'
  const table = `${archiveIndexHeader}${row(1, 'a')}`
  expect(withArchiveRows(`${archiveIndexHeader}\nmine\n`, new Map([[1, row(1, 'a')]]))).toBe(
    `${table}\nmine\n`,
  )
  expect(withArchiveRows(table + theirs, new Map([[2, row(2, 'b')]]))).toBe(table + row(2, 'b') + theirs)
})

const theirs = '\n| 404 | route lost | 2026-01-01 |\n|---|---|---|\n| 405 | 2026-01-01 | s405 |\n'

it.each([
  ['before it', `# Codes\n${theirs}\n`, ''],
  ['below it', '', theirs],
  ['below another heading', '', `## Codes${theirs}`],
  ['in code', `\`\`\`\n${archiveIndexHeader}${theirs.trim()}\n\`\`\`\n`, ''],
])('has no row in a table that people made %s', (_, above, below) => {
  const table = above + archiveIndexHeader + row(1, '2026-01-01 | s1') + below
  expect(archiveRows(table)).toEqual([1])
  expect([...datesInTable(table).keys()]).toEqual([1])
  expect(sessionsInTable(table, 405)).toEqual([])
  expect(withoutArchiveRows(table, [404, 405])).toBe(table)
  const added = new Map([404, 2].map((number) => [number, row(number, 'new')]))
  expect(withArchiveRows(table, added)).toBe(
    `${above}${archiveIndexHeader}${row(1, '2026-01-01 | s1')}${row(2, 'new')}${row(404, 'new')}${below}`,
  )
})

it('has no rows in a file that lacks the table, and gives it one', () => {
  for (const file of [`Mine.\n${theirs}`, `\`\`\`\n${archiveIndexHeader}`]) {
    const written = withArchiveRows(file, new Map([[7, row(7, 'new')]]))
    expect(written.startsWith(file)).toBe(true)
    expect(archiveRows(written)).toContain(7)
    expect(withArchiveRows(written, new Map([[7, row(7, 'again')]]))).toBe(written.replace('new', 'again'))
  }
})

it.each([
  ['padded', '| #   | Date       | Session | Messages |\n| --- | ---------- | ------- | -------- |\n'],
  ['translated', '| # | Datum | Sitzung | Nachrichten | Dauer | Quelle | Themen |\n|--|--|--|--|--|--|--|\n'],
])('knows the table by its header, also when that was %s', (_, header) => {
  const table = `${header}| 007 | 2026-01-01 | s1      | 3        |\n|1000| 2026-01-02|s\\|2|4|\n`
  expect([...datesInTable(table)]).toEqual([
    [7, { date: '2026-01-01', session: 's1' }],
    [1000, { date: '2026-01-02', session: 's\\|2' }],
  ])
  expect(withArchiveRows(table, new Map([[8, row(8, 'b')]]))).toBe(
    table.replace('|1000', `${row(8, 'b')}|1000`),
  )
})

it('replaces the rows that are there, adds the others and leaves what people wrote', () => {
  const table = `${archiveIndexHeader}${row(1, 'a')}mine\n${row(2, 'b')}yours`
  const written = withArchiveRows(table, new Map([1, 1000, 3].map((number) => [number, row(number, 'new')])))
  expect(written).toBe(
    `${archiveIndexHeader}${row(1, 'new')}mine\n${row(2, 'b')}${row(3, 'new')}${row(1000, 'new')}yours`,
  )
  expect(withoutArchiveRows(written, [1000, 3])).toBe(table.replace('a |', 'new |'))
  expect(withArchiveRows('mine', new Map([[1, row(1, 'a')]]))).toBe(
    `mine\n${archiveIndexHeader.slice('# Archive\n'.length)}${row(1, 'a')}`,
  )
  expect(withArchiveRows('', new Map([[1, row(1, 'a')]]))).toBe(archiveIndexHeader + row(1, 'a'))
})

it('puts a row in its place among the others', () => {
  const table = `${archiveIndexHeader}${row(2, 'b')}${row(4, 'd')}mine\n${row(5, 'e')}`.trimEnd()
  const written = withArchiveRows(table, new Map([6, 3, 1].map((number) => [number, row(number, 'new')])))
  expect(archiveRows(written)).toEqual([1, 2, 3, 4, 5, 6])
  expect(withoutArchiveRows(written, [1, 3, 6])).toBe(`${table}\n`)
})

it('finds the row of an archive whose number a person wrote with more zeros', () => {
  const table = `${archiveIndexHeader}| 0007 | mine |\n`
  expect(withArchiveRows(table, new Map([[7, row(7, 'new')]]))).toBe(archiveIndexHeader + row(7, 'new'))
  expect(withoutArchiveRows(table, [7])).toBe(archiveIndexHeader)
})

it('has one line for an archive, whatever its session and its topics are called', () => {
  const archive = {
    log: 7,
    date: '2026-01-01',
    sessionId: 'a|b',
    part: 2,
    messageCount: 3,
    duration: '5m',
    source: 'session' as const,
    topics: ['one\r\nline', 'x'],
  }
  const table = withArchiveRows('', new Map([[7, printArchiveRow(archive, 7)]]))
  expect(table).toBe(
    `${archiveIndexHeader}| 007 | 2026-01-01 | a\\|b (part 2) | 3 | 5m | session | one line, x |\n`,
  )
  expect(datesInTable(table).get(7)?.session).toBe(sessionInRow('a|b', 2))
  expect(datesInTable(withArchiveRows('', new Map([[1, '| 001 | 2026-01-01 | a | 3 |\n']])))).toEqual(
    new Map([[1, { date: '2026-01-01', session: 'a' }]]),
  )
})

it('takes all rows of each merge, unless a person wrote something there', () => {
  const merge = (mine: string, yours: string): string =>
    `<<<<<<< HEAD\n${mine}=======\n${yours}>>>>>>> 51fb131\n`
  const [first, second] = [merge(row(1, 'a'), `${row(2, 'b')}\n`), merge(row(3, 'c'), row(4, 'd'))]
  const rows = [row(1, 'a'), row(2, 'b'), row(3, 'c'), row(4, 'd'), '\n'].join('')
  expect(withBothSides(`${archiveIndexHeader}${first}${second}mine\n`)).toBe(
    `${archiveIndexHeader}${rows}mine\n`,
  )
  for (const theirs of [merge('mine\n', row(2, 'b')) + second, first + merge(row(3, 'c'), 'mine\n')])
    expect(withBothSides(archiveIndexHeader + theirs)).toBe(null)
  expect(withBothSides(`${archiveIndexHeader}\n## Codes\n${first}`)).toBe(null)
  expect(withBothSides(`>>>>>>> 51fb131\n${row(1, 'a')}<<<<<<< HEAD\n`)).toBe(null)
})

it('writes and removes many rows in time that grows with their number', () => {
  const numbers = Array.from({ length: 100_000 }, (_, i) => i + 1)
  const rows = new Map(numbers.map((number) => [number, row(number, 'a')]))
  const table = withArchiveRows(withArchiveRows('', rows), rows)
  expect(archiveRows(table)).toEqual(numbers)
  expect(withoutArchiveRows(table, numbers)).toBe(archiveIndexHeader)
})
