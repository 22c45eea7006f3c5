import type { Found, MatchedPassage, StoreQuery } from '@recall/core'
import {
  appendCapped,
  bestPassage,
  confidenceRank,
  depthGrowth,
  queryTerms,
  withinMatch,
} from '@recall/core/ranking'
import { compareCodePoints } from '@recall/core/text'
import { and, asc, desc, inArray, type SQL, sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../engines/database.ts'
import { inPlace, isEligible } from '../entries/conditions.ts'
import { type EntryRow, entryOf, foundEntry, refuseTooLarge } from '../entries/rows.ts'
import type { Shelf } from '../entries/shelf.ts'
import { storableText } from '../entries/storable-text.ts'
import { storableVector } from '../entries/storable-vector.ts'
import { unitTexts } from '../entries/unit-rows.ts'
import { searchTerms } from '../entries/words.ts'
import { entries } from '../schema/entries.ts'
import { type Candidate, untilEnough } from './candidates.ts'
import { coverageOf } from './coverage.ts'
import { checkVectors, matchMeaning, type NearMatches } from './match-meaning.ts'
import { matchWords } from './match-words.ts'
import { nearest, rankMatches, type WordMatches } from './rank-matches.ts'
import { corrected } from './typos.ts'
import { vocabularyOf } from './word-facts.ts'

/**
 * Finds the entries that a query asks for, in its order.
 *
 * @param meant the terms to look for in place of those of the text, which were misspelled
 */
export async function findEntries(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  meant?: readonly string[],
): Promise<Found[]> {
  const { text, embedding, minScore } = query
  const eligible = isEligible(query, shelf)
  if (text === undefined && !embedding) return listEntries(database, query, shelf, eligible)
  const terms = meant ?? (await termsOf(database, text ?? '', shelf))
  if (embedding) await checkVectors(database, query, shelf, embedding)
  const findCandidates = async (asked: StoreQuery): Promise<{ found: Candidate[]; holdsWord: boolean }> => {
    const [words, meaning] = await Promise.all([
      text === undefined ? undefined : findWords(database, asked, shelf, eligible, terms),
      embedding && findNear(database, asked, shelf, eligible, embedding),
    ])
    const candidates = words ? await rank(database, asked, shelf, words, meaning) : nearest(meaning)
    return { found: candidates.sort(byOrder(query)), holdsWord: words?.rows.length !== 0 }
  }
  let candidates: Candidate[] = []
  for (let depth = confidenceRank; ; depth *= depthGrowth) {
    const { found, holdsWord } = await findCandidates(
      isBestFirst(query) ? { ...query, offset: 0, limit: depth } : query,
    )
    if (!holdsWord && !meant) {
      const right = await corrected(database, query, shelf, terms)
      if (right) return findEntries(database, { ...query, text: right.join(' ') }, shelf, right)
    }
    candidates = appendCapped(candidates, found, ({ id }) => id)
    if (!isBestFirst(query) || candidates.length >= query.offset + query.limit || found.length < depth) break
  }
  const page = candidates
    .filter(({ score }) => score >= minScore)
    .slice(query.offset, query.offset + query.limit)
  return readPage(database, query, shelf, page)
}

/**
 * The most terms of a text to look up, taken from its start: each takes time, though only few of many are searched for.
 */
const mostTerms = 4000

/** The search terms of a text, split and stemmed in the same way as the words of units. */
async function termsOf(database: Database, text: string, { textConfiguration }: Shelf): Promise<string[]> {
  if (textConfiguration === null || text === '') return searchTerms(text).slice(0, mostTerms)
  const rows = await rowsOf<{ lexeme: string }>(
    database,
    sql`select lexeme from unnest(to_tsvector(${textConfiguration}::regconfig, ${storableText(text)}))`,
  )
  return rows.map(({ lexeme }) => lexeme).slice(0, mostTerms)
}

/** How many units to rank; `null` for all. */
const poolOf = (query: StoreQuery): number | null =>
  isBestFirst(query) ? Math.max(256, query.offset + query.limit) : null

/** Any other order has to see every match. */
const isBestFirst = ({ sortBy, sortOrder }: StoreQuery): boolean =>
  sortBy === 'relevance' && sortOrder === 'desc'

async function findWords(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  eligible: SQL,
  terms: readonly string[],
): Promise<WordMatches> {
  const vector = query.embedding ? JSON.stringify(storableVector(query.embedding.vector)) : null
  const vocabulary = await vocabularyOf(database, query, shelf, terms)
  const rows = await untilEnough(query.offset + query.limit, poolOf(query), (most) =>
    matchWords(database, query, shelf, vocabulary, { eligible, most, vector }),
  )
  return { rows, vocabulary }
}

async function findNear(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  eligible: SQL,
  embedding: NonNullable<StoreQuery['embedding']>,
): Promise<NearMatches> {
  let spread: NearMatches['spread'] | undefined
  const rows = await untilEnough(query.offset + query.limit, poolOf(query), async (most) => {
    const near = await matchMeaning(database, query, shelf, eligible, embedding, most)
    spread = near.spread
    return near.rows
  })
  return { rows, spread: spread as NearMatches['spread'] }
}

async function rank(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  words: WordMatches,
  meaning: NearMatches | undefined,
): Promise<Candidate[]> {
  const all = [...words.rows, ...(meaning?.rows ?? [])]
  const ids = [...new Set(all.filter(({ isConversation }) => isConversation).map(({ id }) => id))]
  const coverage = await coverageOf(database, query, shelf, words.vocabulary, ids)
  return rankMatches(query, queryTerms(query.text ?? ''), words, meaning, coverage)
}

async function listEntries(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  eligible: SQL,
): Promise<Found[]> {
  const { limit, offset, sortBy, sortOrder } = query
  const direction = sortOrder === 'asc' ? asc : desc
  const byUse = { accessCount: [direction(entries.accessCount)], lastAccess: [direction(entries.accessedAt)] }
  const first = sortBy === 'accessCount' || sortBy === 'lastAccess' ? byUse[sortBy] : []
  const order = [...first, direction(entries.updatedAt), sql`${entries.key} collate "C"`]
  // Chosen first, so that nothing else of the skipped entries is read.
  const page = database
    .select({ id: entries.id })
    .from(entries)
    .where(eligible)
    .orderBy(...order)
    .limit(limit)
    .offset(offset)
  const chosen = and(inPlace(query, shelf), sql`${entries.id} = any(array(${page}))`)
  await refuseTooLarge(database, chosen, shelf)
  const rows = await database
    .select(foundEntry)
    .from(entries)
    .where(chosen)
    .orderBy(...order)
  return rows.map((row) => ({ entry: entryOf(row), score: 1, mode: 'filter', signals: {} }))
}

async function readPage(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  page: readonly Candidate[],
): Promise<Found[]> {
  if (page.length === 0) return []
  const ids = page.map(({ id }) => id)
  const chosen = and(inPlace(query, shelf), inArray(entries.id, ids))
  await refuseTooLarge(database, chosen, shelf)
  const rows = await database
    .select({ id: entries.id, ...foundEntry })
    .from(entries)
    .where(chosen)
  const byId = new Map<string, EntryRow>(rows.map((row) => [row.id, row]))
  const terms = queryTerms(query.text ?? '')
  return page.flatMap(({ id, score, confidence, mode, signals, found }) => {
    const row = byId.get(id)
    // The entry was deleted after it was ranked.
    if (!row) return []
    const entry = entryOf(row)
    if (query.text === undefined) return [{ entry, score, mode, signals }]
    const best = found
      .slice(0, query.passages ?? 1)
      .map((each) => ({ unit: each.unit, ...withinMatch({ score, confidence }, each) }))
    const passages = passagesOf(row, entry, best, terms)
    const [passage] = passages
    return [
      {
        entry,
        score,
        ...(confidence === undefined ? {} : { confidence }),
        mode,
        signals,
        ...(passage ? { passage } : {}),
        ...(query.passages ? { passages } : {}),
      },
    ]
  })
}

/**
 * The passages to show: the units that were found, with their neighbours. For an entry of one unit, the paragraph
 * that holds most of the terms.
 */
function passagesOf(
  { unitCount }: EntryRow,
  entry: Found['entry'],
  found: Candidate['found'],
  terms: readonly string[],
): MatchedPassage[] {
  if (unitCount === 1)
    return found.map(({ unit: _, ...sureness }) => ({ ...bestPassage(entry.text, terms), ...sureness }))
  const texts = unitTexts(entry).map((text) => text.trimEnd())
  return found.map(({ unit, ...sureness }) => {
    const neighbours = [texts[unit - 1], texts[unit + 1]].filter((text) => text !== undefined)
    return { text: texts[unit] ?? '', ...(neighbours.length > 0 ? { neighbours } : {}), ...sureness }
  })
}

/** Compares candidates; ties are broken by recency, then by key, so that paging is stable. */
function byOrder({ sortBy, sortOrder }: StoreQuery): (a: Candidate, b: Candidate) => number {
  const direction = sortOrder === 'asc' ? -1 : 1
  const measures = {
    relevance: 'score',
    recency: 'updatedAt',
    accessCount: 'accessCount',
    lastAccess: 'accessedAt',
  } as const
  const measure = measures[sortBy]
  return (a, b) =>
    direction * (b[measure] - a[measure]) ||
    direction * (b.updatedAt - a.updatedAt) ||
    compareCodePoints(a.key, b.key)
}
