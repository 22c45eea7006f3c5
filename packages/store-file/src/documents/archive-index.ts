import type { ConversationArchive } from '@recall/core'
import { closingFences } from '@recall/core/text'
import { keepingLineEnds, linesOf } from './line-ends.ts'
import { mergeMark } from './merge.ts'

const tableHeader = `| # | Date | Session | Messages | Duration | Source | Topics |
|---|------|---------|----------|----------|--------|--------|
`

/** ARCHIVE.md: a table for people, one row per archive. Derived from the archives, so it can be rebuilt. */
export const archiveIndexHeader = `# Archive

${tableHeader}`

export function printArchiveRow(archive: Omit<ConversationArchive, 'body'>, number: number): string {
  const cells = [
    String(number).padStart(3, '0'),
    archive.date,
    partOf(archive.sessionId, archive.part),
    String(archive.messageCount),
    archive.duration,
    archive.source,
    archive.topics.join(', '),
  ]
  return `| ${cells.map(cell).join(' | ')} |\n`
}

/** What a row calls the session, or the part of it, that its archive holds. */
export const sessionInRow = (sessionId: string, part?: number): string => cell(partOf(sessionId, part))

const partOf = (sessionId: string, part = 1): string => (part > 1 ? `${sessionId} (part ${part})` : sessionId)

const cell = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '\\|')

/** The header of the table, which people may have padded, translated or given more columns. */
const headerLine = /^\|\s*#\s*\|(?:\s*Date\s*\|\s*Session\s*\||(?:[^|]*\|){6})/

/**
 * For each line, whether it is in the table of archives: people may have made others. Code in which one is quoted does
 * not count.
 */
function isInTable(lines: readonly string[]): boolean[] {
  const closingOf = closingFences(lines)
  let [codeEnd, isTable] = [-1, false]
  return lines.map((line, i) => {
    if (i > codeEnd) codeEnd = closingOf(i) ?? codeEnd
    if (i <= codeEnd || line.trim() === '' || /^#{1,6}\s/.test(line)) isTable = false
    else isTable ||= headerLine.test(line)
    return isTable
  })
}

/** The numbers of lines that are rows of the table; `NaN` for all others. */
const numbersIn = (lines: readonly string[], isTable = isInTable(lines)): number[] =>
  lines.map((line, i) => (isTable[i] ? Number(rowStart.exec(line)?.[1]) : Number.NaN))

const rowStart = /^\|\s*(\d{3,})\s*\|/

/** The row numbers that a table holds. */
export const archiveRows = (content: string): number[] => rowsIn(content).map(({ number }) => number)

/** The rows of the table, with what they say of their archives. */
function rowsIn(content: string): { number: number; date?: string; session?: string }[] {
  const lines = linesOf(content)
  return numbersIn(lines).flatMap((number, i) => {
    if (Number.isNaN(number)) return []
    const [, date, session] = /^\|[^|]*\|([^|]*)\|((?:\\\||[^|])*)\|/.exec(lines[i] ?? '') ?? []
    return [{ number, date: date?.trim(), session: session?.trim() }]
  })
}

/** The sessions, or parts of one, that the rows of a number name: more than one where a merge left both sides. */
export const sessionsInTable = (content: string, wanted: number): string[] =>
  rowsIn(content).flatMap(({ number, session }) => (number === wanted ? (session ?? []) : []))

/** The date and the session of each row that has them, by number. */
export const datesInTable = (content: string): Map<number, { date: string; session: string }> =>
  new Map(
    rowsIn(content).flatMap(({ number, date = '', session }) =>
      session === undefined || !/^\d{4}-\d\d-\d\d\S*$/.test(date) ? [] : [[number, { date, session }]],
    ),
  )

/**
 * The table with the rows of both sides of a merge; `null` when there is no merge in it, or people wrote something in a
 * side.
 */
export function withBothSides(content: string): string | null {
  const lines = linesOf(content)
  const from = lines.findIndex((line) => mergeMark(line) === '<')
  const to = lines.findLastIndex((line) => mergeMark(line) === '>')
  if (from === -1 || to < from || !isInTable(lines)[from]) return null
  const sides = lines.slice(from, to).filter((line) => mergeMark(line) === undefined)
  const rows = sides.filter((line) => rowStart.test(line))
  const blanks = sides.filter((line) => line.trim() === '')
  if (rows.length + blanks.length < sides.length) return null
  // A blank line would end the table.
  return [...lines.slice(0, from), ...rows, ...blanks, ...lines.slice(to + 1)].join('')
}

/**
 * The table with rows replaced, by number, or added in their order; what people wrote around it stays. A file without
 * the table gets one.
 */
export const withArchiveRows = (file: string, rows: ReadonlyMap<number, string>): string =>
  keepingLineEnds(file, (content) => {
    const left = new Map(rows)
    const found = linesOf(content)
    const isTable = isInTable(found)
    const numbers = numbersIn(found, isTable)
    const lines = found.map((line, i) => {
      const number = numbers[i] as number
      const row = left.get(number)
      left.delete(number)
      return row ?? line
    })
    if (left.size === 0) return lines.join('')
    if (!isTable.includes(true)) return withArchiveRows(withTable(content), rows)
    // Below a line that is not a row, such as one that a person wrote into the table, a row would be read as text.
    const lastRow = numbers.findLastIndex((number) => !Number.isNaN(number))
    const end =
      1 + (lastRow === -1 ? lines.findLastIndex((line, i) => isTable[i] && line.startsWith('|')) : lastRow)
    const added = lines.map((): string => '')
    let atEnd = ''
    for (const [number, row] of [...left].sort(([a], [b]) => a - b)) {
      const next = numbers.findIndex((each) => each > number)
      if (next === -1) atEnd += row
      else added[next] += row
    }
    const before = lines.slice(0, end).map((line, i) => added[i] + line)
    const gap = atEnd === '' || before.at(-1)?.endsWith('\n') ? '' : '\n'
    return [...before, gap, atEnd, ...lines.slice(end)].join('')
  })

function withTable(content: string): string {
  if (content.trim() === '') return archiveIndexHeader
  return `${content}${content.endsWith('\n') ? '' : '\n'}\n${tableHeader}`
}

export function withoutArchiveRows(content: string, numbers: readonly number[]): string {
  const gone = new Set(numbers)
  const lines = linesOf(content)
  const numbersOf = numbersIn(lines)
  return lines.filter((_, i) => !gone.has(numbersOf[i] as number)).join('')
}
