import { redactText } from '@recall/core'
import { pieceSeparator, splitTurns, turnsSection, withoutOutputs } from './render-archive.ts'

/** Whether a text contains all pieces exactly, between blank lines and in this order. Others may come in between. */
export function holdsInOrder(text: string, pieces: readonly string[]): boolean {
  const lines = enclosed(text)
  let at = 0
  for (const piece of pieces) {
    const wanted = enclosed(piece)
    const found = lines.indexOf(wanted, at)
    if (found === -1) return false
    at = found + wanted.length - pieceSeparator.length
  }
  return true
}

const enclosed = (text: string): string => plain(`${pieceSeparator}${text}${pieceSeparator}`)

/** Whether an archive's body holds the pieces of turns exactly, one after the other. */
export const areIn = (pieces: readonly string[], body: string): boolean =>
  pieces.length === 0 || holdsInOrder(body, [pieces.join(pieceSeparator)])

/**
 * Whether an archive's body says everything that the pieces of turns say; it may say more. The outputs of tools do not
 * count: they are cut, and may come after the message that they belong to.
 */
export function areSaidIn(pieces: readonly string[], body: string): boolean {
  const archived = turnsSection(plain(body))
  const said = pieces.filter((piece) => withoutOutputs(`${pieceSeparator}${piece}`) !== '')
  return (
    holdsInOrder(archived, said) || holdsInOrder(comparable(archived), splitTurns(comparable(joined(pieces))))
  )
}

/** Whether the pieces of turns say everything that an archive's body says; they may continue. Outputs do not count. */
export function continueTurns(pieces: readonly string[], body: string): boolean {
  const archived = turnsSection(plain(body))
  return (
    holdsInOrder(withoutOutputs(joined(pieces)), splitTurns(withoutOutputs(archived))) ||
    holdsInOrder(comparable(joined(pieces)), splitTurns(comparable(archived)))
  )
}

/** Whether pieces of turns begin with those of an archive's body, outputs too. A body without turns tells nothing. */
export function beginWithTurns(pieces: readonly string[], body: string): boolean {
  const archived = turnsSection(plain(body))
  if (archived === '') return false
  const [begun, said] = [archived, joined(pieces)].map((text) => `${redactText(text).text}${pieceSeparator}`)
  return said?.startsWith(begun ?? '') === true
}

const joined = (pieces: readonly string[]): string => plain(pieces.join(pieceSeparator))

/** The text as files hold it: in UTF-8, with line endings that git and editors may change. */
const plain = (text: string): string => text.toWellFormed().replaceAll('\r\n', '\n')

/**
 * A memory redacts a body as a whole, and an archive may hold text that did not count as a secret when it was written.
 */
const comparable = (text: string): string => withoutOutputs(redactText(text).text)
