import { conversationType, type StoreQuery } from '@recall/core'
import {
  noiseRank,
  queryTerms,
  queryWords,
  type RankedUnit,
  type RankWeights,
  rankUnits,
  saturation,
  surroundingReach,
  tellingWords,
  type UnitEvidence,
  wordsOf,
} from '@recall/core/ranking'
import type { RankedDocument } from '../search-index/document-row.ts'
import type { SearchIndex } from '../search-index/search-index.ts'
import type { MeaningArm } from '../vectors/meaning-arm.ts'
import { accept, createCandidateFilter } from './candidate-filter.ts'
import { poolOf } from './candidate-limits.ts'
import { type FoundUnit, matchWords } from './match-words.ts'
import type { FileAccess } from './row-filter.ts'
import { type WordFacts, wordFactsOf } from './word-facts.ts'

/** Units that match a query by words or meaning, best first, from entries that pass its conditions. */
export function rankMatches(
  index: SearchIndex,
  query: StoreQuery,
  files: FileAccess,
  meaning: MeaningArm | undefined,
  weights: RankWeights,
): RankedUnit<RankedDocument>[] {
  const words = query.text === undefined ? [] : queryWords(query.text).map((word) => `"${word}"`)
  const facts = tellingWords(wordFactsOf(index, query.scope, words))
  const candidateFilter = createCandidateFilter(index, query, files)
  const { found, together } = matchWords(index, facts, query, candidateFilter, meaning !== undefined)
  const whole = new Set(together.map(({ id }) => id))
  const near = meaning
    ? accept(index, query, candidateFilter, (limit) => meaning.nearest(limit), poolOf(query))
    : []
  const candidates = new Map<number, UnitEvidence<RankedDocument>>()
  // Ranking tells documents apart by object identity, the index by id.
  const documentsById = new Map<number, RankedDocument>()
  const add = (id: number, document: RankedDocument, bm25: number): void => {
    const similarity = meaning?.similarity(id)
    if (!documentsById.has(document.id)) documentsById.set(document.id, document)
    candidates.set(id, {
      document: documentsById.get(document.id) as RankedDocument,
      unit: id - document.id,
      parts: document.units,
      bm25,
      isWhole: whole.has(id),
      ageMs: query.now - document.updated,
      ...(similarity === undefined ? {} : { similarity }),
    })
  }
  for (const { id, document, bm25 } of found) add(id, document, bm25)
  for (const { id, document } of near) if (!candidates.has(id)) add(id, document, 0)
  addNeighbours(found, candidates, add)
  if (query.text !== undefined) markTurns(index, query.text, candidates)
  const held = wordsHeld(facts, conversationsAmong(candidates))
  markSurroundings(facts, held, candidates)
  const evidence = {
    bm25Bound: boundOf(facts),
    bm25Noise: found[noiseRank - 1]?.bm25 ?? 0,
    coverage: new Map([...held].map(([document, words]) => [document, shareOf(words, facts)])),
    ...(meaning ? { spread: meaning.spread } : {}),
  }
  return rankUnits([...candidates.values()], evidence, weights)
}

/** The turns around a match may be the answer, although they hold none of the words. */
function addNeighbours(
  found: readonly FoundUnit[],
  candidates: ReadonlyMap<number, unknown>,
  add: (id: number, document: RankedDocument, bm25: number) => void,
): void {
  for (const { id, document } of found.slice(0, noiseRank)) {
    if (!isConversation(document)) continue
    for (const neighbour of [id - 1, id + 1]) {
      const isInside = neighbour >= document.id && neighbour < document.id + document.units
      if (isInside && !candidates.has(neighbour)) add(neighbour, document, 0)
    }
  }
}

/** Marks each unit of a conversation with its turn and speaker. */
function markTurns(
  index: SearchIndex,
  text: string,
  candidates: ReadonlyMap<number, UnitEvidence<RankedDocument>>,
): void {
  const ids = [...candidates].filter(([, { document }]) => isConversation(document)).map(([id]) => id)
  if (ids.length === 0) return
  const terms = new Set(queryTerms(text))
  for (const { id, parts, label } of index.listed(ids)) {
    const candidate = candidates.get(id)
    if (!candidate) continue
    candidate.parts = parts
    candidate.labelled = label !== null && wordsOf(label).some(({ term }) => terms.has(term))
  }
}

/** Whether a document is a conversation of several turns. */
const isConversation = ({ type, units }: RankedDocument): boolean => type === conversationType && units > 1

function conversationsAmong(candidates: ReadonlyMap<number, UnitEvidence<RankedDocument>>): RankedDocument[] {
  const found = new Map<number, RankedDocument>()
  for (const { document } of candidates.values())
    if (isConversation(document)) found.set(document.id, document)
  return [...found.values()]
}

/** BM25 of a unit that holds every word once. */
const boundOf = (facts: readonly WordFacts[]): number => saturation * rarityOf(facts) || 1

/** The words that each conversation holds. */
const wordsHeld = (
  facts: readonly WordFacts[],
  conversations: readonly RankedDocument[],
): Map<RankedDocument, WordFacts[]> =>
  new Map(conversations.map((each) => [each, facts.filter(({ isIn }) => isIn(each.id, lastOf(each)))]))

/**
 * A common word that its conversation holds counts as part of the surroundings: looking it up for each turn takes long.
 */
function markSurroundings(
  facts: readonly WordFacts[],
  held: ReadonlyMap<RankedDocument, readonly WordFacts[]>,
  candidates: ReadonlyMap<number, UnitEvidence<RankedDocument>>,
): void {
  for (const [id, candidate] of candidates) {
    const { document } = candidate
    const first = Math.max(document.id, id - surroundingReach)
    const last = Math.min(lastOf(document), id + surroundingReach)
    const around = held.get(document)?.filter(({ isCommon, isIn }) => isCommon || isIn(first, last))
    if (around) candidate.surroundings = shareOf(around, facts)
  }
}

const lastOf = (document: RankedDocument): number => document.id + document.units - 1

/** The share that some words have in the query, weighted by rarity. */
const shareOf = (some: readonly WordFacts[], all: readonly WordFacts[]): number =>
  rarityOf(some) / (rarityOf(all) || 1)

const rarityOf = (facts: readonly WordFacts[]): number => facts.reduce((sum, { rarity }) => sum + rarity, 0)
