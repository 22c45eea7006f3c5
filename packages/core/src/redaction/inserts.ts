import { type ColumnFinder, type ColumnSecret, isColumnSecret, kindOfColumn } from './columns.ts'

/** `INSERT INTO users (name, password) VALUES`, up to the first row. */
const insert =
  /(?:insert|replace)\s{1,8}(?:ignore\s{1,8})?into\s{1,8}[^\s(]{1,128}\s{0,8}\((?<columns>[^()]{1,2000})\)\s{0,8}values\s{0,8}(?=\()/gi
/** A bracket, a comma, a literal, or the text between them. */
const part = /[(),]|'(?:[^'\\]|''|\\.){0,4096}'|[^(),']{1,4096}/y

/** Passwords and tokens in the rows that SQL inserts, in a column whose name says that it holds them. */
export const inInserts: ColumnFinder = { gate: ['values'], find: findInInserts }

function findInInserts(text: string): ColumnSecret[] {
  const found: ColumnSecret[] = []
  for (const { 0: head, index, groups } of text.matchAll(insert)) {
    const kinds = (groups?.columns ?? '')
      .split(',')
      .map((name) => kindOfColumn(name.replace(/[\s"'`[\]]/g, '')))
    if (kinds.every((kind) => kind === undefined)) continue
    for (const { column, start, value } of literalsFrom(text, index + head.length)) {
      const kind = kinds[column]
      // A value of several lines is not a secret: attacks on databases leave quotes unpaired.
      if (kind !== undefined && !value.includes('\n') && isColumnSecret(kind, value, { quoted: true }))
        found.push({ kind, start, end: start + value.length })
    }
  }
  return found
}

/**
 * The literals of a list of rows, including arguments of functions, each with its column. The list ends where anything
 * but a comma is between two rows; a list that is not closed ends where the next insert begins.
 */
function* literalsFrom(
  text: string,
  from: number,
): Generator<{ column: number; start: number; value: string }> {
  const parts = new RegExp(part)
  parts.lastIndex = from
  let [depth, column] = [0, 0]
  for (;;) {
    const at = parts.lastIndex
    const found = parts.exec(text)?.[0]
    if (found === undefined) return
    if (found === '(' && depth++ === 0) column = 0
    else if (found === ')') depth--
    else if (found === ',' && depth === 1) column++
    else if (found.startsWith("'")) yield { column, start: at + 1, value: found.slice(1, -1) }
    else if (endsRows(found, depth)) return
  }
}

const endsRows = (between: string, depth: number): boolean =>
  depth < 1 ? /[^\s,]/.test(between) || depth < 0 : /\binto\b/i.test(between)
