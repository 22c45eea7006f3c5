import { isShortPassword, isToken } from './assignments.ts'

/** Where a value in a table stands in the text, and what it is. */
interface TableSecret {
  start: number
  end: number
  kind: 'password' | 'secret'
}

/** The heading of a table in markdown and the line below it. */
const heading = /^[^\n|]{0,200}\|[^\n]{0,2000}\n[ \t]{0,8}[|:]?[ \t]{0,8}:?-{1,200}[-:| \t]{0,2000}\r?$/gm
const passwords = /^(?:.{0,40}[ _-])?(?:pass(?:word|wd|phrase|code)?|pwd|pw)s?$/i
const tokens = /^(?:.{0,40}[ _-])?(?:token|secret|(?:api|access|secret)[ _-]?key)s?$/i

/** Finds passwords and tokens in tables of markdown, in a column whose heading says that it holds them. */
export function findInTables(text: string): TableSecret[] {
  if (!text.includes('|')) return []
  const found: TableSecret[] = []
  let end = 0
  for (const { 0: head, index } of text.matchAll(heading)) {
    if (index < end) continue
    const columns = cellsOf(head.slice(0, head.indexOf('\n'))).map(({ value }) => kindOf(value))
    if (columns.every((kind) => kind === undefined)) continue
    for (const { line, at } of rowsFrom(text, index + head.length + 1)) {
      end = at + line.length
      for (const [i, { value, start }] of cellsOf(line).entries()) {
        const kind = columns[i]
        if (kind !== undefined && isSecret(kind, value))
          found.push({ kind, start: at + start, end: at + start + value.length })
      }
    }
  }
  return found
}

function kindOf(title: string): TableSecret['kind'] | undefined {
  if (passwords.test(title)) return 'password'
  return tokens.test(title) ? 'secret' : undefined
}

const isSecret = (kind: TableSecret['kind'], value: string): boolean =>
  kind === 'password' ? isShortPassword(value) : isToken(value, { quoted: false, environment: false })

/** The lines of a table, each with where it begins. */
function* rowsFrom(text: string, from: number): Generator<{ line: string; at: number }> {
  for (let at = from; at < text.length; ) {
    const end = text.indexOf('\n', at)
    const line = text.slice(at, end === -1 ? text.length : end)
    if (!line.includes('|')) return
    yield { line, at }
    if (end === -1) return
    at = end + 1
  }
}

/** What stands between the bars of a line, without the marks around it. */
function cellsOf(line: string): { value: string; start: number }[] {
  const cells: { value: string; start: number }[] = []
  let at = 0
  for (const cell of line.split('|')) {
    const value = cell.replace(/^[\s`*"']+|[\s`*"']+$/g, '')
    cells.push({ value, start: at + cell.indexOf(value) })
    at += cell.length + 1
  }
  return cells
}
