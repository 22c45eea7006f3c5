import type { StoreQuery } from '@recall/core'
import { noiseRank, splitByRarity } from '@recall/core/ranking'
import type { RankedDocument } from '../search-index/document-row.ts'
import type { SearchIndex } from '../search-index/search-index.ts'
import type { UnitRow, WordQuery } from '../search-index/word-rows.ts'
import { accept, type CandidateFilter, countDocuments } from './candidate-filter.ts'
import { poolOf, spare, unlimited, wantedOf } from './candidate-limits.ts'
import { isNearlyEverywhere, isSmallScope, type WordFacts } from './word-facts.ts'

export interface FoundUnit {
  id: number
  document: RankedDocument
  bm25: number
}

/** Number of candidates when searching conversations. */
const widePool = 4 * noiseRank

/**
 * Units that hold the words, best first. The words are first searched together, which is much faster; where too few
 * units hold them all, any of the words will do.
 *
 * @returns `together`: the units that hold all the words, each of which is also in `found`
 */
export function matchWords(
  index: SearchIndex,
  facts: readonly WordFacts[],
  query: StoreQuery,
  candidateFilter: CandidateFilter,
  besideMeaning: boolean,
): { found: FoundUnit[]; together: FoundUnit[] } {
  if (facts.length === 0) return { found: [], together: [] }
  const words = facts.map(({ word }) => word)
  const isSmall = isSmallScope(index, query.scope)
  const matching = createMatcher(index, candidateFilter)
  const match = (text: WordQuery, pool: number): FoundUnit[] => {
    const strengths = new Map<number, number>()
    const units = accept(
      index,
      query,
      candidateFilter,
      (limit) =>
        matching(text, limit).map(({ id, bm25 }) => {
          strengths.set(id, bm25)
          return id
        }),
      pool,
    )
    const found = units.map((unit) => ({ ...unit, bm25: strengths.get(unit.id) ?? 0 }))
    return isSmall ? strongestFirst(found, facts) : found
  }
  const all = (pool: number): FoundUnit[] => match({ match: words.join(' ') }, pool)
  const any = (pool: number): FoundUnit[] => {
    const { finding, counting, bound } = splitByRarity(facts, pool, index.countUnits(query.scope))
    if (pool < unlimited && counting.length > 0) {
      const also = facts.filter((each) => counting.includes(each.word) && !isNearlyEverywhere(each))
      const rarer = { match: finding.join(' OR '), also: also.map(({ word }) => word).join(' OR ') }
      const found = match(rarer, pool)
      const isWhole = found.length >= pool && countDocuments(found) >= wantedOf(query, pool)
      if (isWhole && (found.at(-1) as FoundUnit).bm25 > bound) return found
    }
    return match({ match: words.join(' OR ') }, pool)
  }
  const pool = poolOf(query)
  // In a search by meaning too, all near matches have to be seen.
  const wanted = besideMeaning ? pool : wantedOf(query, pool)
  // No more units hold all words than hold the rarest one. If these are fewer than wanted, meaning supplies the rest.
  const isTogetherEnough = !besideMeaning || facts.every(({ count }) => count >= wanted)
  const together = isTogetherEnough ? all(pool) : []
  const isEnough =
    isTogetherEnough && (words.length === 1 || (pool < unlimited && countDocuments(together) >= wanted))
  const found = isEnough ? together : united(any(pool), together)
  // In a conversation, a turn that holds few of the words may still be the answer, because of the turns around it.
  const inConversations = found.filter(({ document }) => document.units >= conversationLength).length
  if (pool >= widePool || inConversations < found.length / 2 || found.length < pool)
    return { found, together }
  const wide = isEnough ? all(widePool) : united(any(widePool), together)
  return { found: wide, together: isEnough ? wide : together }
}

/** The units, followed by those of `more` that are not among them. */
function united(units: readonly FoundUnit[], more: readonly FoundUnit[]): FoundUnit[] {
  const known = new Set(units.map(({ id }) => id))
  return [...units, ...more.filter(({ id }) => !known.has(id))]
}

/**
 * Returns a function that fetches matching units. Ranking them takes longer than returning them: where conversations
 * are kept, more are fetched than wanted, because a wider pool is looked at next. Most entries pass most filters, so
 * the first fetch ignores the filter; if that was not enough, the next fetches only units that may pass it.
 */
function createMatcher(index: SearchIndex, { conditions, isConditional }: CandidateFilter) {
  const fetched = new Map<string, { limit: number; rows: UnitRow[] }>()
  const least = conditions.scope === 'episodic' ? widePool + spare : 0
  return (text: WordQuery, limit: number): UnitRow[] => {
    const name = JSON.stringify(text)
    const known = fetched.get(name)
    if (known && limit <= known.limit) return known.rows.slice(0, limit)
    const most = Math.min(known ? limit * 4 : Math.max(limit, least), unlimited)
    const isNarrowed = conditions.narrowing !== undefined && (known !== undefined || most === unlimited)
    const rows = isNarrowed
      ? index.matchUnits(text, conditions, true, most)
      : index.matchUnits(text, { ...conditions, narrowing: undefined }, isConditional, most)
    fetched.set(name, { limit: most, rows })
    return rows.slice(0, limit)
  }
}

/**
 * Orders units by the words they hold, about as core's BM25 would for units of average length; FTS5's score breaks
 * ties.
 */
function strongestFirst(units: readonly FoundUnit[], facts: readonly WordFacts[]): FoundUnit[] {
  const strengthOf = ({ id, bm25 }: FoundUnit): number =>
    facts.reduce((sum, { isIn, rarity }) => sum + (isIn(id, id) ? rarity : 0), bm25 / 1000)
  return units
    .map((unit) => ({ ...unit, bm25: strengthOf(unit) }))
    .sort((a, b) => b.bm25 - a.bm25 || a.id - b.id)
}

/** A document of at least this many units is more than a note that was slightly too long. */
const conversationLength = 8
