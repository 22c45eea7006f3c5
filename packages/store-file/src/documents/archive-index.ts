import type { ConversationArchive } from '@recall/core'
import { keepingLineEnds, linesOf } from './line-ends.ts'
import { mergeMark } from './merge.ts'

/** ARCHIVE.md: a table for people, one row per archive. Derived from the archives, so it can be rebuilt. */
export const archiveIndexHeader = `# Archive

| # | Date | Session | Messages | Duration | Source | Topics |
|---|------|---------|----------|----------|--------|--------|
`

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

/** The row numbers that a table holds. */
export function archiveRows(content: string): number[] {
  return [...content.matchAll(/^\| (\d{3,}) \|/gm)].map(([, number]) => Number(number))
}

/** The sessions, or parts of one, that the rows of a number name: more than one where a merge left both sides. */
export const sessionsInTable = (content: string, wanted: number): string[] =>
  Array.from(content.matchAll(/^\| (\d{3,}) \|[^|]*\| (.*?) \|/gm))
    .filter(([, number]) => Number(number) === wanted)
    .map(([, , session = '']) => session)

/** The date and the session of each row that has them, by number. */
export function datesInTable(content: string): Map<number, { date: string; session: string }> {
  const rows = content.matchAll(/^\| (\d{3,}) \| (\d{4}-\d\d-\d\d[^|\s]*) \| (.*?) \|/gm)
  return new Map(
    Array.from(rows, ([, number, date = '', session = '']) => [Number(number), { date, session }]),
  )
}

/**
 * The table with the rows of both sides of a merge; `null` when there is no merge, or people wrote something in a side.
 */
export function withBothSides(content: string): string | null {
  const lines = linesOf(content)
  const from = lines.findIndex((line) => mergeMark(line) === '<')
  const to = lines.findLastIndex((line) => mergeMark(line) === '>')
  const isDerived = (line: string): boolean =>
    mergeMark(line) !== undefined || isOfTable(line) || line.trim() === ''
  if (from === -1 || to < from || !lines.slice(from, to).every(isDerived)) return null
  return lines.filter((line) => mergeMark(line) === undefined).join('')
}

/** The number of a line that is a row; `NaN` for any other line. */
const numberIn = (line: string): number => Number(/^\| (\d{3,}) \|/.exec(line)?.[1])

/** The table with rows replaced, by number, or added in their order; what people wrote around it stays. */
export const withArchiveRows = (file: string, rows: ReadonlyMap<number, string>): string =>
  keepingLineEnds(file, (content) => {
    const existing = content === '' ? archiveIndexHeader : content
    const left = new Map(rows)
    const lines = linesOf(existing).map((line) => {
      const number = numberIn(line)
      const row = left.get(number)
      left.delete(number)
      return row ?? line
    })
    if (left.size === 0) return lines.join('')
    // Below a line outside the table, a row would be read as text.
    const end = 1 + (lastIndexOf(lines, isRow) ?? lastIndexOf(lines, isOfTable) ?? lines.length - 1)
    const numbers = lines.map(numberIn)
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

const isRow = (line: string): boolean => !Number.isNaN(numberIn(line))

const isOfTable = (line: string): boolean => line.startsWith('|')

function lastIndexOf(lines: readonly string[], isWanted: (line: string) => boolean): number | undefined {
  const index = lines.findLastIndex(isWanted)
  return index === -1 ? undefined : index
}

export function withoutArchiveRows(content: string, numbers: readonly number[]): string {
  const gone = new Set(numbers)
  return linesOf(content)
    .filter((line) => !gone.has(numberIn(line)))
    .join('')
}
