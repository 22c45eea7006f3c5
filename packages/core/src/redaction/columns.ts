import { isPassword, isShortPassword, isToken } from './assignments.ts'

/** A value in a column that holds secrets: where it stands in the text, and what it is. */
export interface ColumnSecret {
  start: number
  end: number
  kind: 'password' | 'secret'
}

const passwords = /^(?:.{0,40}[ _-])?(?:pass(?:wor[dt]|wd|phrase|code)?|pwd|pw|kennwort|senha)s?$/i
const tokens = /^(?:.{0,40}[ _-])?(?:token|secret|(?:api|access|secret)[ _-]?key)s?$/i

/** What a column of that name holds, unless it is no secret. */
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
