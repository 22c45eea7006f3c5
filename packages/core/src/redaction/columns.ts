import { isPassword, isShortPassword, isToken } from './assignments.ts'

/** A value in a column that holds secrets: its place in the text, and its kind. */
export interface ColumnSecret {
  start: number
  end: number
  kind: 'password' | 'secret'
}

/** Finds the secrets in columns of one kind. */
export interface ColumnFinder {
  /** In lower case: a text without any of these has no such columns. */
  gate: readonly string[]
  find(text: string): ColumnSecret[]
}

const passwords = /^(?:.{0,40}[ ._-])?(?:pass(?:wor[dt]|wd|phrase|code)?|pwd|pw|kennwort|senha)s?$/i
const tokens = /^(?:.{0,40}[ ._-])?(?:token|secret|(?:api|access|secret)[ _-]?key)s?$/i

/** The kind of secret in a column of that name; `undefined` when it holds none. */
export function kindOfColumn(name: string): ColumnSecret['kind'] | undefined {
  if (passwords.test(name)) return 'password'
  return tokens.test(name) ? 'secret' : undefined
}

/** Whether a value of such a column is a secret. One that a language quotes is a literal. */
export function isColumnSecret(kind: ColumnSecret['kind'], value: string, { quoted = false } = {}): boolean {
  const evidence = { quoted, environment: false }
  if (kind === 'secret') return isToken(value, evidence)
  return quoted ? isPassword(value, evidence) : isShortPassword(value)
}

const names = /^(?:key|name|field|property|setting|variable|parameter|option)$/i

/**
 * What each cell of a row holds, by the titles of its columns; or by the name in the row, where one column has names
 * and another has their values.
 *
 * @returns `undefined` for titles that promise no secret
 */
export function kindsOfCells(
  titles: readonly string[],
): ((cells: readonly string[]) => (ColumnSecret['kind'] | undefined)[]) | undefined {
  const kinds = titles.map(kindOfColumn)
  if (kinds.some((kind) => kind !== undefined)) return () => kinds
  const name = titles.findIndex((title) => names.test(title))
  const value = titles.findIndex((title) => /^value$/i.test(title))
  if (name === -1 || value === -1) return undefined
  return (cells) => cells.map((_, i) => (i === value ? kindOfColumn(cells[name] ?? '') : undefined))
}
