import { type ColumnFinder, type ColumnSecret, isColumnSecret, kindsOfCells } from './columns.ts'

/** The heading of a table in markdown, or as databases print it, and the line below it. */
const ruledHeading =
  /^[^\n|│]{0,200}(?<bar>[|│])[^\n]{0,2000}\n[ \t]{0,8}[|:+├]?[ \t]{0,8}:?[-─]{1,200}[-─:|+┼ \t]{0,2000}┤?\r?$/gm
/** The line that some programs print between rows. */
const rule = /^[-─:|+┼├┤ \t\r]+$/
/** The name of a secret, or of values, that is one of several on a line, with its separator. */
const separatedHeading =
  /(?:pass(?:wor[dt]|wd|phrase|code)?|pwd|pw|kennwort|senha|token|secret|key|value)s?["']?(?:[ ]?[,;\t]|(?<=[,;\t][\w "'-]{1,48})(?=\r?$))/gim

/** Passwords and tokens in tables of markdown, databases and CSV, in a column whose heading promises them. */
export const inTables: readonly ColumnFinder[] = [
  { gate: ['|', '│'], find: findInRuled },
  {
    gate: ['pass', 'pwd', 'pw', 'kennwort', 'senha', 'token', 'secret', 'key', 'value'],
    find: findInSeparated,
  },
]

function findInRuled(text: string): ColumnSecret[] {
  const found: ColumnSecret[] = []
  let end = 0
  for (const { 0: head, index, groups } of text.matchAll(ruledHeading)) {
    if (index < end) continue
    const bar = groups?.bar ?? ''
    const titles = cellsOf(head.slice(0, head.indexOf('\n')), bar).map(({ value }) => value)
    const table = readTable(text, index + head.length + 1, titles, bar)
    found.push(...table.found)
    end = table.end
  }
  return found
}

function findInSeparated(text: string): ColumnSecret[] {
  const found: ColumnSecret[] = []
  let end = 0
  for (const { index } of text.matchAll(separatedHeading)) {
    if (index < end) continue
    const { line, next } = lineAround(text, index)
    end = next
    const separator = /[,;\t]/.exec(line)?.[0] ?? ','
    const titles = cellsOf(line, separator).map(({ value }) => value)
    if (titles.length < 2 || !titles.every(isTitle)) continue
    const table = readTable(text, next, titles, separator)
    found.push(...table.found)
    end = table.end
  }
  return found
}

/** At most three words: more are a sentence. */
const isTitle = (title: string): boolean => /^[a-z][\w -]{0,40}$/i.test(title) && title.split(' ').length <= 3

/** The line around a place, and where the next one begins. */
export function lineAround(text: string, at: number): { line: string; next: number } {
  const start = text.lastIndexOf('\n', at) + 1
  const end = text.indexOf('\n', at)
  const next = end === -1 ? text.length : end + 1
  return { line: text.slice(start, end === -1 ? text.length : end), next }
}

/** Reads the rows of a table: lines with as many cells as it has titles, or with any number between bars. */
export function readTable(
  text: string,
  from: number,
  titles: readonly string[],
  separator: string,
): { found: ColumnSecret[]; end: number } {
  const kindsOf = kindsOfCells(titles)
  const found: ColumnSecret[] = []
  if (kindsOf === undefined) return { found, end: from }
  let at = from
  while (at < text.length) {
    const { line, next } = lineAround(text, at)
    const cells = line.includes(separator) ? cellsOf(line, separator) : []
    const isRow = isBar(separator) ? cells.length > 0 || rule.test(line) : cells.length === titles.length
    if (!isRow) break
    const kinds = kindsOf(cells.map(({ value }) => value))
    for (const [i, { value, start }] of cells.entries()) {
      const kind = kinds[i]
      if (kind !== undefined && isColumnSecret(kind, value))
        found.push({ kind, start: at + start, end: at + start + value.length })
    }
    at = next
  }
  return { found, end: at }
}

/** The cells between the separators of a line, without the marks around them. */
function cellsOf(line: string, separator: string): { value: string; start: number }[] {
  const cells: { value: string; start: number }[] = []
  let at = 0
  for (const cell of split(line, separator)) {
    const value = cell.replace(/^[\s`*"']+|[\s`*"']+$/g, '')
    cells.push({ value, start: at + cell.indexOf(value) })
    at += cell.length + 1
  }
  return cells
}

const isBar = (separator: string): boolean => separator === '|' || separator === '│'

/** A bar within quotes separates cells too; a comma within quotes, in CSV, does not. */
function split(line: string, separator: string): string[] {
  const parts = line.split(separator)
  if (isBar(separator) || !line.includes('"')) return parts
  const cells: string[] = []
  let whole: string[] = []
  let isOpen = false
  for (const part of parts) {
    whole.push(part)
    if (part.split('"').length % 2 === 0) isOpen = !isOpen
    if (isOpen) continue
    cells.push(whole.join(separator))
    whole = []
  }
  return whole.length > 0 ? [...cells, ...whole] : cells
}
