import type { StoreQuery } from '@recall/core'
import { sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../engines/database.ts'
import { placeId } from '../entries/address.ts'
import type { Shelf } from '../entries/shelf.ts'
import { units } from '../schema/entries.ts'

/** Terms of three letters or fewer are not corrected. */
const shortest = 4
/** If a digit differs, a year, a version or a ticket is a different one. */
const holdsDigit = /\p{N}/u
const mostTerms = 16

/**
 * The most words of a place that are looked through, counted once for each unit: it keeps the extra time of a search
 * well under a second, however much is kept. A misspelled word that occurs only beyond them is not found.
 */
const mostWords = 500_000

/**
 * How many letters longer than its word a term with an ending may be, and how many letters shorter: see `mistakesIn`.
 */
const mostLonger = 7
const mostShorter = 2

/** Least share of trigrams that a term and a word have in common to be compared letter by letter. */
const leastSimilar = 0.2
const mostCompared = 20

/**
 * Corrects the terms of a query when none was found: they are misspelled, or about something else.
 *
 * @returns the terms, each one replaced by the word of the place that it was probably meant to be; `null` when none of
 * them has such a word
 */
export async function corrected(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  terms: readonly string[],
): Promise<string[] | null> {
  const asked = terms.filter((term) => term.length >= shortest && !holdsDigit.test(term)).slice(0, mostTerms)
  if (asked.length === 0) return null
  const rows = await rowsOf<{ term: string; word: string }>(
    database,
    sql`
      with asked as materialized (
        select term from jsonb_array_elements_text(${JSON.stringify(asked)}::text::jsonb) as term
      ), known as materialized (
        select distinct word from (
          select unnest(tsvector_to_array(${units.words})) as word from ${units}
          where ${units.place} = ${placeId(query, shelf)}::uuid limit ${mostWords}
        ) as kept
        where length(word) >= ${shortest} and left(word, 1) = any(array(select left(term, 1) from asked))
      )
      select term, word from asked, lateral (
        select word from (
          select word, similarity(word, term) as likeness from known
          where left(word, 1) = left(term, 1)
            and length(word) between length(term) - ${mostLonger} and length(term) + ${mostShorter}
          offset 0
        ) as compared
        where likeness >= ${leastSimilar}
        order by likeness desc, word limit ${mostCompared}
      ) as near`,
  )
  const best = new Map<string, { word: string; mistakes: number }>()
  for (const { term, word } of rows) {
    const mistakes = mistakesIn(term, word)
    if (mistakes < (best.get(term)?.mistakes ?? Number.POSITIVE_INFINITY)) best.set(term, { word, mistakes })
  }
  const meant = terms.map((term) => best.get(term)?.word ?? term)
  return meant.some((term, i) => term !== terms[i]) ? meant : null
}

/** What a misspelled word may end with beyond the stem that it was meant to have: no stemmer knows its ending. */
const ending = /^(?:.{0,2}|ing|ion|able|ment|ness|ation|ments)$/

/**
 * How many letters are wrong, missing, too many or exchanged with the next one in a term that was meant to be a word
 * (optimal string alignment). An ending of the term costs nothing.
 *
 * @returns `Infinity` for more than are likely in a word of this length
 */
function mistakesIn(term: string, word: string): number {
  const allowed = word.length < 6 ? 1 : 2
  const rows: number[][] = [Array.from({ length: word.length + 1 }, (_, j) => j)]
  let least = Number.POSITIVE_INFINITY
  for (let i = 1; i <= term.length; i++) {
    const row = [i]
    const [above = [], beyond = []] = [rows[i - 1], rows[i - 2]]
    for (let j = 1; j <= word.length; j++) {
      const same = term[i - 1] === word[j - 1]
      const isExchanged = i > 1 && j > 1 && term[i - 1] === word[j - 2] && term[i - 2] === word[j - 1]
      row[j] = Math.min(
        (above[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (above[j - 1] as number) + (same ? 0 : 1),
        isExchanged ? (beyond[j - 2] as number) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    rows.push(row)
    if (ending.test(term.slice(i))) least = Math.min(least, row[word.length] as number)
  }
  return least <= allowed ? least : Number.POSITIVE_INFINITY
}
