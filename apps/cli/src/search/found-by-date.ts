import { datesNamedIn, dateWords } from '@recall/core/ranking'
import type { LocatedHit } from '@recall/store-file'

/**
 * Returns a test for hits of which no line holds any of a query's words. A search looks for the words of a date as well
 * that the query names: then a hit is meant if its text says the whole date. What has several parts is also found by
 * the words of its own date, and is meant if it is of that day or month. A year alone, which all of its days have, is
 * meant only where nothing else is asked for.
 *
 * @param now milliseconds
 */
export function foundByDate(query: string, now: number): (hit: LocatedHit) => boolean {
  const asked = wordsOf(query)
  const named = datesNamedIn(query, now)
  const dates = named.map(wordsOf).filter(({ length }) => length > 1)
  const sought = new Set([...asked, ...named.flatMap(wordsOf)])
  const isNamedIn = (words: readonly string[]): boolean =>
    dates.some((date) => date.every((word) => words.includes(word)))
  return (hit) => {
    if (isNamedIn(wordsOf(hit.text))) return true
    if (hit.neighbours === undefined) return named.length === 0
    const date = wordsOf(dateWords(dateOf(hit)))
    if (!date.some((word) => sought.has(word))) return true
    const [, month = ''] = date
    const isAllThatIsAsked = asked.length === 1 && asked.every((word) => date.includes(word))
    return isNamedIn(date) || asked.includes(month) || isAllThatIsAsked
  }
}

/** An archive says when its session was. */
function dateOf({ fields, updated }: LocatedHit): string | number {
  const date = typeof fields === 'object' && fields !== null && 'date' in fields ? fields.date : undefined
  return typeof date === 'string' ? date : updated
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
