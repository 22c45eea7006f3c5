import { bestPassage, compareCodePoints, type Found, type StoreQuery } from '@recall/core'
import { and, asc, desc, inArray, type SQL, sql } from 'drizzle-orm'
import { inPlace, isEligible, type Shelf } from './conditions.ts'
import type { Database } from './database.ts'
import { matchMeaning } from './match-meaning.ts'
import { type Candidate, matchWords } from './match-words.ts'
import { nearest, rankMatches } from './rank-matches.ts'
import { type EntryRow, entryOf, entrySelection } from './rows.ts'
import { entries } from './schema/entries.ts'
import { lookedFor } from './words.ts'

/** The entries that a query asks for, in its order. */
export async function findEntries(database: Database, query: StoreQuery, shelf: Shelf): Promise<Found[]> {
  const { text, embedding, minScore } = query
  const eligible = isEligible(query, shelf)
  if (text === undefined && !embedding) return listEntries(database, query, eligible)
  const terms = lookedFor(text ?? '')
  const wanted = query.offset + query.limit
  const meaning = embedding && (await matchMeaning(database, query, shelf, eligible, embedding, wanted))
  const words =
    text === undefined
      ? undefined
      : await matchWords(database, query, shelf, eligible, terms, poolOf(query, wanted))
  const candidates = words ? rankMatches(query, terms, words, meaning) : nearest(meaning)
  const page = candidates
    .filter(({ score }) => score >= minScore)
    .sort(byOrder(query))
    .slice(query.offset, wanted)
  return readPage(database, query, shelf, page, terms)
}

/**
 * Candidates by BM25 among which the best scores are looked for. It grows in powers of two, so that the pages
 * of one search are cut from the same list; any other order than best first has to see every match.
 */
function poolOf({ sortBy, sortOrder }: StoreQuery, wanted: number): number | null {
  if (sortBy !== 'relevance' || sortOrder === 'asc') return null
  return Math.max(1024, 4 * 2 ** Math.ceil(Math.log2(wanted)))
}

async function listEntries(database: Database, query: StoreQuery, eligible: SQL): Promise<Found[]> {
  const { limit, offset, sortBy, sortOrder } = query
  const direction = sortOrder === 'asc' ? asc : desc
  const byUse = { accessCount: [direction(entries.accessCount)], lastAccess: [direction(entries.accessedAt)] }
  const first = sortBy === 'accessCount' || sortBy === 'lastAccess' ? byUse[sortBy] : []
  const rows = await database
    .select(entrySelection)
    .from(entries)
    .where(eligible)
    .orderBy(...first, direction(entries.updatedAt), sql`${entries.key} collate "C"`)
    .limit(limit)
    .offset(offset)
  return rows.map((row) => ({ entry: entryOf(row), score: 1, mode: 'filter', signals: {} }))
}

async function readPage(
  database: Database,
  query: StoreQuery,
  shelf: Shelf,
  page: readonly Candidate[],
  terms: readonly string[],
): Promise<Found[]> {
  if (page.length === 0) return []
  const ids = page.map(({ id }) => id)
  const rows = await database
    .select({ id: entries.id, ...entrySelection })
    .from(entries)
    .where(and(inPlace(query, shelf), inArray(entries.id, ids)))
  const byId = new Map<string, EntryRow>(rows.map((row) => [row.id, row]))
  return page.flatMap(({ id, score, mode, signals }) => {
    const row = byId.get(id)
    // Deleted since it was ranked.
    if (!row) return []
    const entry = entryOf(row)
    if (terms.length === 0) return [{ entry, score, mode, signals }]
    const passage = bestPassage(row.text, terms)
    const passages = query.passages ? { passages: [{ ...passage, score }] } : {}
    return [{ entry, score, mode, signals, passage, ...passages }]
  })
}

/** Ties go by recency, then by key, so that paging is stable. */
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
