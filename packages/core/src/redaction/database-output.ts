import {
  type ColumnFinder,
  type ColumnSecret,
  isColumnSecret,
  kindOfColumn,
  kindsOfCells,
} from './columns.ts'
import { lineAround, readTable } from './tables.ts'

/** `COPY users (id, password) FROM stdin;`, up to the first row. */
const copy =
  /^copy\s{1,8}[^\s(]{1,128}\s{0,8}\((?<columns>[^()]{1,2000})\)\s{1,8}from\s{1,8}stdin[^\n;]{0,200};\r?\n/gim
/** `-[ RECORD 1 ]---`: each line below it holds a column and its value. */
const record = /^-\[ RECORD \d{1,9} \][-+]{0,2000}\r?\n/gm
/** Dashes below the titles of columns that are separated only by blanks. */
const underline = /\n(?<rule>[ \t]{0,8}-{1,2000}(?: {1,200}-{1,2000}){1,200}) {0,200}(?=\r?\n)/g

/** Passwords and tokens in database dumps, and in what database clients print besides tables with bars. */
export const inDatabaseOutput: readonly ColumnFinder[] = [
  { gate: ['stdin'], find: findInCopies },
  { gate: ['-[ record '], find: findInRecords },
  { gate: ['- '], find: findInUnderlined },
]

function findInCopies(text: string): ColumnSecret[] {
  return [...text.matchAll(copy)].flatMap(({ 0: head, index, groups }) => {
    const columns = (groups?.columns ?? '').split(',').map((name) => name.replace(/[\s"]/g, ''))
    return readTable(text, index + head.length, columns, '\t').found
  })
}

function findInRecords(text: string): ColumnSecret[] {
  const found: ColumnSecret[] = []
  for (const { 0: head, index } of text.matchAll(record)) {
    for (const { line, at } of linesFrom(text, index + head.length)) {
      const bar = line.indexOf('|')
      if (bar === -1) break
      const kind = kindOfColumn(line.slice(0, bar).trim())
      found.push(...secretIn(kind, line.slice(bar + 1), at + bar + 1))
    }
  }
  return found
}

function findInUnderlined(text: string): ColumnSecret[] {
  const found: ColumnSecret[] = []
  let end = 0
  for (const { index, groups } of text.matchAll(underline)) {
    if (index < end) continue
    const starts = [...(groups?.rule ?? '').matchAll(/-+/g)].map((dashes) => dashes.index)
    const cellsOf = (line: string): string[] => starts.map((start, i) => line.slice(start, starts[i + 1]))
    const kindsOf = kindsOfCells(cellsOf(lineAround(text, index - 1).line).map((title) => title.trim()))
    if (kindsOf === undefined) continue
    for (const { line, at } of linesFrom(text, lineAround(text, index + 1).next)) {
      end = at
      if (line.trim() === '') break
      const cells = cellsOf(line)
      const kinds = kindsOf(cells.map((cell) => cell.trim()))
      for (const [i, cell] of cells.entries()) found.push(...secretIn(kinds[i], cell, at + (starts[i] ?? 0)))
    }
  }
  return found
}

function* linesFrom(text: string, from: number): Generator<{ line: string; at: number }> {
  for (let at = from; at < text.length; ) {
    const { line, next } = lineAround(text, at)
    yield { line, at }
    at = next
  }
}

/** The secret of a cell, if its column has one. */
function secretIn(kind: ColumnSecret['kind'] | undefined, cell: string, at: number): ColumnSecret[] {
  const value = cell.trim()
  if (kind === undefined || !isColumnSecret(kind, value)) return []
  const start = at + cell.indexOf(value)
  return [{ kind, start, end: start + value.length }]
}
