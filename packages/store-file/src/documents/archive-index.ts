import type { ConversationArchive } from '@recall/core'
import { keepingLineEnds } from './line-ends.ts'

/** ARCHIVE.md: a table for people, one row an archive. Derived from the archives, so it can be made anew. */
export const archiveIndexHeader = `# Archive

| # | Date | Session | Messages | Duration | Source | Topics |
|---|------|---------|----------|----------|--------|--------|
`

export function printArchiveRow(archive: Omit<ConversationArchive, 'body'>, number: number): string {
  const session =
    archive.part && archive.part > 1 ? `${archive.sessionId} (part ${archive.part})` : archive.sessionId
  const cells = [
    String(number).padStart(3, '0'),
    archive.date,
    session,
    String(archive.messageCount),
    archive.duration,
    archive.source,
    archive.topics.join(', '),
  ]
  return `| ${cells.map(cell).join(' | ')} |\n`
}

const cell = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '\\|')

/** The row numbers that a table holds. */
export function archiveRows(content: string): number[] {
  return [...content.matchAll(/^\| (\d{3,}) \|/gm)].map(([, number]) => Number(number))
}

/** The date and the session of each row that has them, by number. */
export function datesInTable(content: string): Map<number, { date: string; session: string }> {
  const rows = content.matchAll(/^\| (\d{3,}) \| (\d{4}-\d\d-\d\d[^|\s]*) \| (.*?) \|/gm)
  return new Map(
    Array.from(rows, ([, number, date = '', session = '']) => [Number(number), { date, session }]),
  )
}

/** The table with one row replaced or added at the end; what people wrote around it stays. */
export const withArchiveRow = (file: string, number: number, row: string): string =>
  keepingLineEnds(file, (content) => withRow(content, number, row))

function withRow(content: string, number: number, row: string): string {
  const existing = content === '' ? archiveIndexHeader : content
  const lines = existing.split(/(?<=\n)/)
  const start = `| ${String(number).padStart(3, '0')} |`
  const at = lines.findIndex((line) => line.startsWith(start))
  if (at >= 0) lines[at] = row
  else lines.push(existing.endsWith('\n') ? row : `\n${row}`)
  return lines.join('')
}

export function withoutArchiveRow(content: string, number: number): string {
  const start = `| ${String(number).padStart(3, '0')} |`
  return content
    .split(/(?<=\n)/)
    .filter((line) => !line.startsWith(start))
    .join('')
}
