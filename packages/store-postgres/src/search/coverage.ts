import type { StoreQuery } from '@recall/core'
import { surroundingReach } from '@recall/core/ranking'
import { type SQL, sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../engines/database.ts'
import { placeId } from '../entries/address.ts'
import type { Shelf } from '../entries/shelf.ts'
import { entries, units } from '../schema/entries.ts'
import { termsListed, type Vocabulary, type WordFacts } from './word-facts.ts'

/** How much of the query a conversation holds, weighted by the rarity of the terms; 0..1. */
export interface Coverage {
  /** In any of its turns. */
  entry: number
  /** In the turns around one of its turns. */
  around(unit: number): number
}

/**
 * For a term in more units than this, only the entries that hold it are looked up: it then counts as near each of their
 * units.
 */
const mostListed = 4000

/** @param ids ids of conversations */
export async function coverageOf(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  { words }: Vocabulary,
  ids: readonly string[],
): Promise<Map<string, Coverage>> {
  const terms = new Map<string, HeldTerm[]>(ids.map((id) => [id, []]))
  const total = words.reduce((sum, { rarity }) => sum + rarity, 0)
  const place = sql`${placeId(query, shelf)}::uuid`
  const collectHolders = async (sought: readonly WordFacts[], find: typeof unitsHolding): Promise<void> => {
    if (ids.length === 0 || total === 0 || sought.length === 0) return
    for (const { id, position, units } of await rowsOf<Holder>(database, find(place, ids, sought))) {
      const share = (sought[position - 1]?.rarity ?? 0) / total
      terms.get(id)?.push({ share, units: units && new Set(units) })
    }
  }
  await Promise.all([
    collectHolders(
      words.filter(({ count }) => count <= mostListed),
      unitsHolding,
    ),
    collectHolders(
      words.filter(({ count }) => count > mostListed),
      entriesHolding,
    ),
  ])
  return new Map([...terms].map(([id, held]) => [id, coverageBy(held)]))
}

interface Holder {
  id: string
  /** Position of the term, from 1. */
  position: number
  /** The units that hold it; `null` when they were not looked up. */
  units: number[] | null
}

/** A term that an entry holds, and its share of the query. */
interface HeldTerm {
  share: number
  units: ReadonlySet<number> | null
}

const coverageBy = (held: readonly HeldTerm[]): Coverage => ({
  entry: sharesOf(held),
  around: (unit) =>
    sharesOf(held.filter(({ units }) => units === null || reached.some((steps) => units.has(unit + steps)))),
})

const sharesOf = (terms: readonly HeldTerm[]): number => terms.reduce((sum, { share }) => sum + share, 0)

/** Distances from a unit to each of its surroundings. */
const reached = Array.from({ length: 2 * surroundingReach + 1 }, (_, i) => i - surroundingReach)

/** Starts from the index of words, whatever the planner believes. */
const unitsHolding = (place: SQL, ids: readonly string[], terms: readonly WordFacts[]): SQL => sql`
  select held.entry as id, position::int as position, jsonb_agg(held.unit) as units
  from ${listed(terms)}
  cross join lateral (
    select ${units.entry} as entry, ${units.unit} as unit from ${units}
    where ${units.place} = ${place} and ${units.words} @@ term offset 0
  ) as held
  join ${wanted(place, ids)} on wanted.id = held.entry and held.unit < wanted.unit_count
  group by 1, 2`

/** Goes entry by entry: in most of them, the first units already hold a common term. */
const entriesHolding = (place: SQL, ids: readonly string[], terms: readonly WordFacts[]): SQL => sql`
  select wanted.id as id, position::int as position, null as units
  from ${listed(terms)} cross join ${wanted(place, ids)}
  cross join lateral (
    select from ${units}
    where ${units.place} = ${place} and ${units.entry} = wanted.id
      and ${units.unit} < wanted.unit_count and (${units.words} || ''::tsvector) @@ term
    limit 1
  ) as held`

const listed = (terms: readonly WordFacts[]): SQL => termsListed(terms.map(({ word }) => word))

const wanted = (place: SQL, ids: readonly string[]): SQL => sql`(
  select ${entries.id}, ${entries.unitCount} from ${entries}
  where ${entries.place} = ${place} and ${entries.id} = any(
    array(select jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb)::uuid)
  )
) as wanted`
