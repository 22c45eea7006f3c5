import {
  confidenceRank,
  noiseRank,
  queryTerms,
  queryWords,
  type RankedUnit,
  type RankWeights,
  rankUnits,
  type StoreQuery,
  saturation,
  splitByRarity,
  tellingWords,
  type UnitEvidence,
  wordsOf,
} from '@recall/core'
import type { Conditions } from '../search-index/conditions.ts'
import type { DocumentRow } from '../search-index/document-row.ts'
import type { SearchIndex } from '../search-index/search-index.ts'
import type { UnitRow, WordQuery } from '../search-index/word-rows.ts'
import type { MeaningArm } from '../vectors/meaning-arm.ts'
import { narrowingOf } from './narrowing.ts'
import { type FileAccess, isEverything, passes } from './row-filter.ts'
import { isSmallScope, type WordFacts, wordFactsOf } from './word-facts.ts'

/** What ranking needs of a document; the rest is read only for the hits that are returned. */
export type RankedDocument = Pick<DocumentRow, 'id' | 'key' | 'updated' | 'units'>

export const conditionsOf = ({ scope, namespace, now, tags, filter }: StoreQuery): Conditions => ({
  scope,
  namespace,
  now,
  tags: tags ?? [],
  narrowing: filter && narrowingOf(filter),
})

/** Units that match a query by their words or their meaning, best first, of entries that pass its conditions. */
export function rankMatches(
  index: SearchIndex,
  query: StoreQuery,
  files: FileAccess,
  meaning: MeaningArm | undefined,
  weights: RankWeights,
): RankedUnit<RankedDocument>[] {
  const words = query.text === undefined ? [] : queryWords(query.text).map((word) => `"${word}"`)
  const facts = tellingWords(wordFactsOf(index, query.scope, words))
  const gate = createGate(index, query, files)
  const { found, together } = matchWords(index, facts, query, gate, meaning !== undefined)
  const near = meaning ? accept(index, query, gate, (limit) => meaning.nearest(limit), poolOf(query)) : []
  const candidates = new Map<number, UnitEvidence<RankedDocument>>()
  // Ranking tells documents apart by object identity, the index by id.
  const documentsById = new Map<number, RankedDocument>()
  const add = (id: number, document: RankedDocument, bm25: number): void => {
    const similarity = meaning?.similarity(id)
    if (!documentsById.has(document.id)) documentsById.set(document.id, document)
    candidates.set(id, {
      document: documentsById.get(document.id) as RankedDocument,
      unit: id - document.id,
      bm25,
      ageMs: query.now - document.updated,
      ...(similarity === undefined ? {} : { similarity }),
    })
  }
  for (const { id, document, bm25 } of found) add(id, document, bm25)
  for (const { id, document } of near) if (!candidates.has(id)) add(id, document, 0)
  addNeighbours(found, candidates, add)
  if (query.text !== undefined) markLabels(index, query.text, candidates)
  const evidence = {
    bm25Bound: boundOf(facts),
    bm25Noise: found[noiseRank - 1]?.bm25 ?? 0,
    coverage: coverageOf(facts, longDocuments(candidates)),
    ...(meaning ? { spread: meaning.spread } : {}),
  }
  const ranked = rankUnits([...candidates.values()], evidence, weights)
  return meaning || found === together ? ranked : wholeFirst(ranked, together)
}

/**
 * In a search by words alone, entries that hold all words in one unit come first, whether or not the others were looked
 * for, so that the pages of one search fit together.
 */
function wholeFirst(
  ranked: readonly RankedUnit<RankedDocument>[],
  together: readonly FoundUnit[],
): RankedUnit<RankedDocument>[] {
  const whole = new Set(together.map(({ document }) => document.id))
  const first = ranked.filter(({ document }) => whole.has(document.id))
  const best = new Map<number, RankedUnit<RankedDocument>>()
  for (const unit of first) if (!best.has(unit.document.id)) best.set(unit.document.id, unit)
  const last = [...best.values()].at(-1)
  if (!last) return [...ranked]
  const rest = ranked.filter(({ document }) => !whole.has(document.id)).map((unit) => cappedBy(last, unit))
  return [...first, ...rest]
}

function cappedBy(
  { score, confidence }: RankedUnit<RankedDocument>,
  unit: RankedUnit<RankedDocument>,
): RankedUnit<RankedDocument> {
  // A little below, because ties go to the later entry.
  const floor = score * (1 - 1e-6)
  if (unit.score <= floor) return unit
  const share = floor / unit.score
  const signals = Object.fromEntries(Object.entries(unit.signals).map(([name, part]) => [name, part * share]))
  return { ...unit, score: floor, confidence, signals }
}

interface FoundUnit {
  id: number
  document: RankedDocument
  bm25: number
}

/**
 * How many candidates to look at. It grows in powers of two, so that the pages of one search are cut from the
 * same list.
 */
function poolOf({ sortBy, sortOrder, offset, limit }: StoreQuery): number {
  // Any order but best-first has to see every match.
  if (sortBy !== 'relevance' || sortOrder === 'asc') return everything
  return Math.max(noiseRank, 2 ** Math.ceil(Math.log2(offset + limit)))
}

/** Candidates where conversations are searched. */
const widePool = 4 * noiseRank

const everything = 2 ** 31

/**
 * Units that hold the words, best first. Words are looked for together first, which is much faster; where too few
 * units hold them all, any of the words will do.
 */
function matchWords(
  index: SearchIndex,
  facts: readonly WordFacts[],
  query: StoreQuery,
  gate: Gate,
  besideMeaning: boolean,
): { found: FoundUnit[]; together: FoundUnit[] } {
  if (facts.length === 0) return { found: [], together: [] }
  const words = facts.map(({ word }) => word)
  const isSmall = isSmallScope(index, query.scope)
  const matching = createMatcher(index, gate)
  const match = (text: WordQuery, pool: number): FoundUnit[] => {
    const strengths = new Map<number, number>()
    const units = accept(
      index,
      query,
      gate,
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
    if (pool < everything && counting.length > 0) {
      const found = match({ match: finding.join(' OR '), also: counting.join(' OR ') }, pool)
      const isWhole = found.length >= pool && countDocuments(found) >= wantedOf(query, pool)
      if (isWhole && (found.at(-1) as FoundUnit).bm25 > bound) return found
    }
    return match({ match: words.join(' OR ') }, pool)
  }
  const pool = poolOf(query)
  // Next to meaning, all near matches have to be seen.
  const wanted = besideMeaning ? pool : wantedOf(query, pool)
  // No more units hold all words than hold the rarest one. Where these are fewer than wanted, meaning fills up the rest.
  const isTogetherEnough = !besideMeaning || facts.every(({ count }) => count >= wanted)
  const together = isTogetherEnough ? all(pool) : []
  const isEnough =
    isTogetherEnough && (words.length === 1 || (pool < everything && countDocuments(together) >= wanted))
  const found = isEnough ? together : any(pool)
  // In a conversation, a turn that holds few of the words may still be the answer, because of the turns around it.
  const inConversations = found.filter(({ document }) => document.units >= conversationLength).length
  if (pool >= widePool || inConversations < found.length / 2 || found.length < pool)
    return { found, together }
  const wide = isEnough ? all(widePool) : any(widePool)
  return { found: wide, together: isEnough ? wide : together }
}

/**
 * Returns a function that asks for the units that match. To rank them takes long, to hand out more of them does not:
 * it asks for more than are wanted, because a wider pool may be looked at next. Most filters are passed by most entries,
 * so the first are asked for whatever the filter; if these were not enough, only those that may pass it.
 */
function createMatcher(index: SearchIndex, { conditions, isConditional }: Gate) {
  const fetched = new Map<string, { limit: number; rows: UnitRow[] }>()
  return (text: WordQuery, limit: number): UnitRow[] => {
    const name = JSON.stringify(text)
    const known = fetched.get(name)
    if (known && limit <= known.limit) return known.rows.slice(0, limit)
    const most = Math.min(known ? limit * 4 : Math.max(limit, widePool + spare), everything)
    const isNarrowed = conditions.narrowing !== undefined && (known !== undefined || most === everything)
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

/** The units, in their order, of the first `pool` entries that pass the query's conditions. */
function accept(
  index: SearchIndex,
  query: StoreQuery,
  gate: Gate,
  units: (limit: number) => number[],
  pool: number,
): { id: number; document: RankedDocument }[] {
  const wanted = wantedOf(query, pool)
  for (let limit = Math.min(pool + spare, everything); ; limit = Math.min(limit * 4, everything)) {
    const ids = units(limit)
    const accepted = acceptedUnits(index, gate, ids)
    if ((accepted.length >= pool && countDocuments(accepted) >= wanted) || ids.length < limit) {
      return pool === everything ? accepted : accepted.slice(0, Math.max(pool, lastNeeded(accepted, wanted)))
    }
  }
}

/** Most candidates pass, so a few more than needed are enough. */
const spare = 14

/** How many entries to look at: those that were asked for, and enough to judge the confidence of the first. */
const wantedOf = ({ offset, limit }: StoreQuery, pool: number): number =>
  Math.min(pool, Math.max(confidenceRank, offset + limit))

const countDocuments = (units: readonly { document: RankedDocument }[]): number =>
  new Set(units.map(({ document }) => document.id)).size

/** How many units to fetch in order to see that many documents, or all when there are fewer. */
function lastNeeded(units: readonly { document: RankedDocument }[], wanted: number): number {
  const seen = new Set<number>()
  let needed = 0
  for (const [i, { document }] of units.entries()) {
    if (seen.size === wanted) break
    if (!seen.has(document.id)) needed = i + 1
    seen.add(document.id)
  }
  return needed
}

function acceptedUnits(
  index: SearchIndex,
  gate: Gate,
  ids: readonly number[],
): { id: number; document: RankedDocument }[] {
  const accepted: { id: number; document: RankedDocument }[] = []
  for (let i = 0; i < ids.length; i += rowsAtOnce) {
    const some = ids.slice(i, i + rowsAtOnce)
    const documents = index.documentsOfUnits(some)
    const lets = gate.judge([...documents.values()].map(({ id }) => id))
    for (const id of some) {
      const document = documents.get(id)
      if (document && lets(document.id)) accepted.push({ id, document })
    }
  }
  return accepted
}

const rowsAtOnce = 500

/** What an entry must be to be found, however a search came upon it. */
interface Gate {
  conditions: Conditions
  /** Whether the scope holds entries that do not fulfil the conditions. */
  isConditional: boolean
  /** Looks at documents, by id, each once; the function that it returns tells which of them may be found. */
  judge(documents: readonly number[]): (id: number) => boolean
}

function createGate(index: SearchIndex, query: StoreQuery, files: FileAccess): Gate {
  const conditions = conditionsOf(query)
  const isConditional = conditions.tags.length > 0 || index.needsConditions(conditions)
  const isOpen = !isConditional && isEverything(query.filter)
  const verdicts = new Map<number, boolean>()
  return {
    conditions,
    isConditional,
    judge(documents) {
      if (isOpen) return () => true
      const unknown = [...new Set(documents)].filter((id) => !verdicts.has(id))
      for (const id of unknown) verdicts.set(id, false)
      for (const row of index.documents(unknown, conditions))
        verdicts.set(row.id, passes(row, query.filter, files))
      return (id) => verdicts.get(id) === true
    },
  }
}

/** The turns around a match may be the answer, although they hold none of the words. */
function addNeighbours(
  found: readonly FoundUnit[],
  candidates: ReadonlyMap<number, unknown>,
  add: (id: number, document: RankedDocument, bm25: number) => void,
): void {
  for (const { id, document } of found.slice(0, noiseRank)) {
    for (const neighbour of [id - 1, id + 1]) {
      const isInside = neighbour >= document.id && neighbour < document.id + document.units
      if (isInside && !candidates.has(neighbour)) add(neighbour, document, 0)
    }
  }
}

function markLabels(
  index: SearchIndex,
  text: string,
  candidates: ReadonlyMap<number, UnitEvidence<RankedDocument>>,
): void {
  const ids = [...candidates].filter(([, { document }]) => document.units > 1).map(([id]) => id)
  if (ids.length === 0) return
  const terms = new Set(queryTerms(text))
  for (const { id, label } of index.labels(ids)) {
    const candidate = candidates.get(id)
    if (candidate) candidate.labelled = wordsOf(label).some(({ term }) => terms.has(term))
  }
}

/** Documents of several units among the candidates. */
function longDocuments(candidates: ReadonlyMap<number, UnitEvidence<RankedDocument>>): RankedDocument[] {
  const long = new Map<number, RankedDocument>()
  for (const { document } of candidates.values()) if (document.units > 1) long.set(document.id, document)
  return [...long.values()]
}

/** BM25 of a unit that holds every word once. */
const boundOf = (facts: readonly WordFacts[]): number =>
  saturation * facts.reduce((total, { rarity }) => total + rarity, 0) || 1

/** The share of the words, by their rarity, that each document holds. */
function coverageOf(
  facts: readonly WordFacts[],
  documents: readonly RankedDocument[],
): Map<RankedDocument, number> {
  const total = facts.reduce((sum, { rarity }) => sum + rarity, 0) || 1
  return new Map(
    documents.map((document) => {
      const last = document.id + document.units - 1
      const held = facts.filter(({ isIn }) => isIn(document.id, last))
      return [document, held.reduce((sum, { rarity }) => sum + rarity, 0) / total]
    }),
  )
}
