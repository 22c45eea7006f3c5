import type { StoreQuery } from '@recall/core'
import { noiseRank, splitByRarity } from '@recall/core/ranking'
import { type SQL, sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../engines/database.ts'
import { placeId } from '../entries/address.ts'
import type { Shelf } from '../entries/shelf.ts'
import { quoted } from '../entries/words.ts'
import { entries, units } from '../schema/entries.ts'
import { isConversation, matchColumns, similarityTo, type UnitMatch, unitsOfEntries } from './candidates.ts'
import type { Vocabulary, WordFacts } from './word-facts.ts'

export interface WordMatch extends UnitMatch {
  /** 0 for a unit that holds none of the terms but is next to one that does. */
  bm25: number
  /** Whether it holds all the terms. */
  isWhole: boolean
}

/** Which units to find: the best `most`, all if `null`. */
interface Wanted {
  eligible: SQL
  most: number | null
  /** The query's vector as JSON, to add the similarity of each unit. */
  vector: string | null
}

/**
 * Finds units that hold any of the terms, best first, and their neighbours. Without a vector, those that hold all the
 * terms come before the others, as core ranks them. Postgres computes the same BM25 as core's `bm25`, over all units of
 * the place; core turns it into scores. Units that hold only common terms are searched for only if they may be among
 * the best.
 */
export async function matchWords(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  vocabulary: Vocabulary,
  wanted: Wanted,
): Promise<WordMatch[]> {
  const { words } = vocabulary
  if (words.length === 0) return []
  const { most } = wanted
  const find = (finding: readonly string[]): Promise<WordMatch[]> =>
    rowsOf(database, matching(query, shelf, vocabulary, wanted, finding))
  if (most !== null) {
    const { finding, counting, bound } = splitByRarity(words, most, vocabulary.units)
    const rows = counting.length > 0 ? await find(finding) : []
    const last = rows[most - 1]
    if (last && (last.bm25 > bound || (last.isWhole && wanted.vector === null))) return rows
  }
  return find(words.map(({ word }) => word))
}

/** @param finding the terms, at least one of which a unit has to hold */
function matching(
  query: StoreQuery,
  shelf: Shelf,
  { words, averageLength }: Vocabulary,
  { eligible, most, vector }: Wanted,
  finding: readonly string[],
): SQL {
  const place = sql`${placeId(query, shelf)}::uuid`
  const similarity = vector === null ? sql`null::float8` : similarityTo(vector)
  const bestFirst = vector === null ? sql`"isWhole" desc, bm25 desc` : sql`bm25 desc`
  const together = words.map(({ word }) => quoted(word)).join(' & ')
  return sql`
    with matched as materialized (
      select ${units.entry} as id, ${units.unit} as unit, ${isConversation} as "isConversation",
        scored.bm25 as bm25, scored.whole as "isWhole"
      from ${unitsOfEntries} cross join lateral (
        select ${bm25Of(words, averageLength)} as bm25, unpacked.words @@ ${together}::text::tsquery as whole
        from ${unpackedWords} as unpacked
      ) as scored
      where ${units.place} = ${place} and ${units.words} @@ ${finding.map(quoted).join(' | ')}::text::tsquery
        and ${eligible}
      order by ${bestFirst}, ${entries.updatedAt} desc, ${entries.key} collate "C", ${units.unit}
      limit ${most}
    ), around as (
      select ${units.entry} as id, ${units.unit} as unit, 0 as bm25, false as "isWhole"
      from (select * from matched order by bm25 desc limit ${noiseRank}) as best join ${units}
        on ${units.place} = ${place} and ${units.entry} = best.id and ${units.unit} in (best.unit - 1, best.unit + 1)
      where best."isConversation"
    )
    select ${matchColumns}, ${similarity} as similarity, found.bm25, found."isWhole"
    from (
      select id, unit, max(bm25) as bm25, bool_or("isWhole") as "isWhole"
      from (select id, unit, bm25, "isWhole" from matched union all select * from around) as either group by id, unit
    ) as found
    join ${unitsOfEntries} on ${units.place} = ${place} and ${units.entry} = found.id and ${units.unit} = found.unit
    order by ${bestFirst}, ${entries.updatedAt} desc, ${entries.key} collate "C", ${units.unit}`
}

/** SQL for the BM25 of a unit, from its `unpacked` words. The weights of a term encode its count, see `countedWords`. */
function bm25Of(words: readonly WordFacts[], averageLength: number): SQL {
  const norm = sql`${k1} * (1 - ${b} + ${b} * ${units.wordCount} / ${averageLength}::float8)`
  const parts = words.map(({ word, rarity }) => {
    const holds = (weight: string): SQL => sql`unpacked.words @@ ${quoted(word) + weight}::text::tsquery`
    const bit = (weight: string): SQL => sql`(${holds(weight)})::int`
    const count = sql`(8 * ${bit(':A')} + 4 * ${bit(':B')} + 2 * ${bit(':C')} + ${bit(':D')})`
    return sql`case when ${holds('')} then ${rarity}::float8 * (${k1} + 1) / (1 + ${norm} / ${count}) else 0 end`
  })
  return sql.join(parts, sql` + `)
}

/** The words of a unit, decompressed: otherwise each `@@` does so again, which takes most of the time of a search. */
const unpackedWords = sql`(select ${units.words} || ''::tsvector as words offset 0)`

/**
 * The parameters of core's `bm25`; a test compares both implementations. They are part of the statement's text, which
 * repeats them for each term.
 */
const k1 = sql.raw('1.2::float8')
const b = sql.raw('0.75::float8')
