import type { StoreQuery } from '@recall/core'
import { hasManyWords, rarityInMemory, tellingWords } from '@recall/core/ranking'
import { type SQL, sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../engines/database.ts'
import { placeId } from '../entries/address.ts'
import type { Shelf } from '../entries/shelf.ts'
import { quoted } from '../entries/words.ts'
import { placeSizes, units } from '../schema/entries.ts'

/** What a place knows about one term of a query. */
export interface WordFacts {
  word: string
  /** Inverse document frequency; the highest for a term that no unit holds. */
  rarity: number
  /** How many units hold it. */
  count: number
}

/** What a place knows about the terms to look for. */
export interface Vocabulary {
  words: WordFacts[]
  /** How many units the place has, not counting entries without words, and their mean number of words. */
  units: number
  averageLength: number
}

/** Counting up to the first is fast, however many units hold a term; up to the second it is bearable. */
const countedUpTo = [1000, 8000]

/**
 * Most words of a place, for each of many terms and in total, that are read to count them. Reading fewer takes less
 * time than looking up each term, which in a small place means going through its units once per term.
 */
const mostRead = { ofTerm: 5000, inAll: 2_000_000 }

/** Looks up the terms of a query; of many terms, only the telling ones (see core's `tellingWords`). */
export async function vocabularyOf(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  terms: readonly string[],
): Promise<Vocabulary> {
  const place = sql`${placeId(query, shelf)}::uuid`
  const sized = sizeOf(database, place)
  const [counted, { units, words }] = await Promise.all([
    hasManyWords(terms)
      ? sized.then(({ words }) => countTelling(database, place, terms, words))
      : countHolders(database, place, terms, null),
    sized,
  ])
  return {
    words: counted.map(({ word, count }) => ({
      word,
      count,
      rarity: rarityInMemory(count, Math.max(units, count)),
    })),
    units,
    averageLength: Math.max(1, words / Math.max(1, units)),
  }
}

async function sizeOf(database: Database, place: SQL): Promise<{ units: number; words: number }> {
  const [size] = await rowsOf<{ units: number; words: number }>(
    database,
    sql`
      select coalesce(sum(${placeSizes.worded}), 0)::float8 as units,
        coalesce(sum(${placeSizes.words}), 0)::float8 as words
      from ${placeSizes} where ${placeSizes.place} = ${place}`,
  )
  return size ?? { units: 0, words: 0 }
}

type Counted = Pick<WordFacts, 'word' | 'count'>

/**
 * Most of many terms are too common to be among the telling ones: in a place with many words, these are counted only
 * until that is certain.
 */
async function countTelling(
  database: Database,
  place: SQL,
  terms: readonly string[],
  words: number,
): Promise<Counted[]> {
  if (words <= Math.min(terms.length * mostRead.ofTerm, mostRead.inAll))
    return tellingWords(await countByReading(database, place, terms))
  let known: Counted[] = terms.map((word) => ({ word, count: Number.POSITIVE_INFINITY }))
  for (const most of [...countedUpTo, null]) {
    const open = known.filter(({ count }) => count === Number.POSITIVE_INFINITY).map(({ word }) => word)
    const counts = new Map(
      (await countHolders(database, place, open, most)).map(({ word, count }) => [word, count]),
    )
    known = known.map(({ word, count }) => ({ word, count: counts.get(word) ?? count }))
    const telling = tellingWords(known)
    if (telling.every(({ count }) => count < Number.POSITIVE_INFINITY)) return telling
  }
  return tellingWords(known)
}

/** How many units hold each term, in one pass through all words of the place. */
async function countByReading(database: Database, place: SQL, terms: readonly string[]): Promise<Counted[]> {
  const rows = await rowsOf<{ word: string; count: number }>(
    database,
    sql`
      with asked as materialized (
        select word from jsonb_array_elements_text(${JSON.stringify(terms)}::text::jsonb) as word
      )
      select word, count(*)::float8 as count
      from ${units}, unnest(tsvector_to_array(${units.words})) as word
      where ${units.place} = ${place} and word in (select word from asked)
      group by word`,
  )
  const counts = new Map(rows.map(({ word, count }) => [word, count]))
  return terms.map((word) => ({ word, count: counts.get(word) ?? 0 }))
}

/** How many units hold each term; `Infinity` for more than `most`. */
async function countHolders(
  database: Database,
  place: SQL,
  terms: readonly string[],
  most: number | null,
): Promise<Counted[]> {
  if (terms.length === 0) return []
  const rows = await rowsOf<{ count: number }>(
    database,
    sql`
      select (
        select count(*) from (
          select from ${units} where ${units.place} = ${place} and ${units.words} @@ term
          limit ${most === null ? null : most + 1}
        ) as held
      )::float8 as count
      from ${termsListed(terms)} order by position`,
  )
  return terms.map((word, i) => {
    const count = rows[i]?.count ?? 0
    return { word, count: most !== null && count > most ? Number.POSITIVE_INFINITY : count }
  })
}

/** The terms as tsqueries, with their positions from 1. */
export const termsListed = (terms: readonly string[]): SQL => sql`
  (select position, spelled::tsquery as term
  from jsonb_array_elements_text(${JSON.stringify(terms.map(quoted))}::text::jsonb)
    with ordinality as listed (spelled, position)) as looked_for`
