import {
  compareCodePoints,
  type Filter,
  isEnvelope,
  isJsonObject,
  type JsonValue,
  lexicalScore,
  matchesFilter,
  memoryScopes,
  queryWords,
  type StoreQuery,
} from '@recall/core'
import { type DocumentRow, type SearchIndex, splitTags, type UnitRow } from './index/search-index.ts'

/** One entry that matches, with its best unit. */
export interface Hit {
  row: DocumentRow
  /** Number of the unit that matched best; 0 when the query has no text. */
  unit: number
  score: number
  signals: Record<string, number>
}

/** What the search needs from the files, asked only where the index cannot answer. */
export interface FileAccess {
  value(row: DocumentRow): JsonValue | undefined
  accesses(): Map<string, { at: number; count: number }>
}

/** What ranking needs to know of a document; the rest is read for the hits that are returned. */
type Ranked = Pick<DocumentRow, 'id' | 'key' | 'updated'>

interface RankedHit extends Omit<Hit, 'row'> {
  document: Ranked
}

/**
 * Best candidates, by BM25, whose words are counted when not every word of the query was found together. The
 * same for every page of a result, so that pages fit together.
 */
const rescored = 32

/**
 * The entries that a query asks for, in order. Words are looked for together first; when that finds fewer
 * entries than were asked for, entries with only some of the words follow, never ahead of the others.
 */
export function searchDocuments(index: SearchIndex, query: StoreQuery, files: FileAccess): Hit[] {
  if (index.isEmpty(query.scope)) return []
  const wanted = query.offset + query.limit
  const hits =
    query.text === undefined ? listHits(index, query, files) : wordHits(index, query, wanted, files)
  const page = hits.slice(query.offset, wanted)
  const rows = new Map(index.documents(page.map(({ document }) => document.id)).map((row) => [row.id, row]))
  return page.flatMap(({ document, ...hit }) => {
    const row = rows.get(document.id)
    return row ? [{ row, ...hit }] : []
  })
}

function listHits(index: SearchIndex, query: StoreQuery, files: FileAccess): RankedHit[] {
  const byUse = query.sortBy === 'accessCount' || query.sortBy === 'lastAccess'
  const hits: RankedHit[] = []
  for (const row of index.list(conditionsOf(query), byUse ? 'desc' : query.sortOrder)) {
    if (!passes(row, query.filter, files)) continue
    hits.push({ document: row, unit: 0, score: 1, signals: {} })
    if (!byUse && hits.length === query.offset + query.limit) break
  }
  return byUse ? sortHits(hits, query, files) : hits
}

function wordHits(index: SearchIndex, query: StoreQuery, wanted: number, files: FileAccess): RankedHit[] {
  const words = queryWords(query.text ?? '').map((word) => `"${word}"`)
  if (words.length === 0) return []
  // Another order than best first, or a filter on values, has to see every match.
  const all = query.sortBy !== 'relevance' || query.sortOrder === 'asc'
  const enough = all ? Number.POSITIVE_INFINITY : Math.max(leastPool, 2 ** Math.ceil(Math.log2(wanted)))
  const together = candidates(index, words.join(' '), query, enough, files)
  let hits = together.map((candidate) => scoreHit(candidate, words.length, words.length, query.now))
  if (words.length > 1 && (all || hits.length < wanted)) {
    const known = new Set(together.map(({ document }) => document.id))
    const floor = Math.min(1, ...hits.map(({ score }) => score))
    const pool = enough + known.size
    const partial = candidates(index, words.join(' OR '), query, pool, files).filter(
      ({ document }) => !known.has(document.id),
    )
    hits = [...hits, ...scorePartial(index, partial, words, query, floor)]
  }
  return sortHits(hits, query, files).filter(({ score }) => score >= query.minScore)
}

/** The best are ordered by all signals; those behind them keep BM25's order and score no higher. */
function scorePartial(
  index: SearchIndex,
  partial: Candidate[],
  words: string[],
  query: StoreQuery,
  floor: number,
): RankedHit[] {
  const best = partial.slice(0, rescored)
  // Of two words, what lacks one has one.
  const counts =
    words.length === 2
      ? new Map<number, number>()
      : index.countWords(
          query.scope,
          words,
          best.map(({ document, unit }) => document.id + unit),
        )
  const scored = best.map((candidate) => {
    const matched = Math.max(1, counts.get(candidate.document.id + candidate.unit) ?? 1)
    return capHit(scoreHit(candidate, words.length, matched, query.now), floor)
  })
  let lowest = Math.min(floor, ...scored.map(({ score }) => score))
  const rest = partial.slice(rescored).map((candidate) => {
    const hit = capHit(scoreHit(candidate, words.length, 1, query.now), lowest)
    lowest = hit.score
    return hit
  })
  return [...scored, ...rest]
}

/**
 * Candidates by BM25 among which the best scores are looked for. It grows in powers of two, so that the pages
 * of one search are cut from the same list.
 */
const leastPool = 32

interface Candidate {
  document: Ranked
  unit: number
  bm25: number
}

/** Matching entries by their best unit, best first; at least `wanted` of them where there are so many. */
function candidates(
  index: SearchIndex,
  match: string,
  query: StoreQuery,
  wanted: number,
  files: FileAccess,
): Candidate[] {
  const conditions = conditionsOf(query)
  const join = conditions.tags.length > 0 || index.needsConditions(conditions)
  // Most documents are one unit: few more units than documents are needed.
  for (let limit = Math.min(wanted + 8, everyUnit); ; limit = Math.min(limit * 4, everyUnit)) {
    const units = index.matchUnits(match, conditions, join, limit)
    const found = bestUnits(index, units, query, files, wanted)
    if (found.length >= wanted || units.length < limit) return found
  }
}

const everyUnit = 2 ** 31

function bestUnits(
  index: SearchIndex,
  units: readonly UnitRow[],
  query: StoreQuery,
  files: FileAccess,
  wanted: number,
): Candidate[] {
  const found = new Map<number, Candidate | null>()
  const filtered = !isEverything(query.filter)
  let accepted = 0
  for (let i = 0; i < units.length && accepted < wanted; i += rowsAtOnce) {
    const some = units.slice(i, i + rowsAtOnce)
    const documents = index.documentsOfUnits(some.map(({ id }) => id))
    const rows = filtered ? rowsOf(index, [...documents.values()]) : undefined
    for (const { id, bm25 } of some) {
      const document = documents.get(id)
      // Units come best first: the first of a document is its best one.
      if (!document || found.has(document.id)) continue
      const row = rows?.get(document.id)
      const accept = !filtered || (row !== undefined && passes(row, query.filter, files))
      found.set(document.id, accept ? { document, unit: id - document.id, bm25 } : null)
      if (accept && ++accepted === wanted) break
    }
  }
  const kept = [...found.values()].filter((candidate) => candidate !== null)
  // Equals stand in an order that the files give, not in that in which they came into the index.
  return kept.sort(
    (a, b) =>
      b.bm25 - a.bm25 ||
      b.document.updated - a.document.updated ||
      compareCodePoints(a.document.key, b.document.key),
  )
}

const rowsOf = (index: SearchIndex, documents: readonly Ranked[]): Map<number, DocumentRow> =>
  new Map(index.documents(documents.map(({ id }) => id)).map((row) => [row.id, row]))

const isEverything = (filter: Filter | undefined): boolean =>
  !filter || (filter.kind === 'all' && filter.filters.length === 0)

const rowsAtOnce = 500

const conditionsOf = ({ scope, namespace, now, tags }: StoreQuery) => ({
  scope,
  namespace,
  now,
  tags: tags ?? [],
})

function scoreHit(
  { document, unit, bm25 }: Candidate,
  terms: number,
  matched: number,
  now: number,
): RankedHit {
  const evidence = { bm25, queryTerms: terms, matchedTerms: matched, ageMs: now - document.updated }
  return { document, unit, ...lexicalScore(evidence) }
}

/** An entry that lacks some of the words never scores above one that has them all. */
function capHit(hit: RankedHit, floor: number): RankedHit {
  if (hit.score <= floor) return hit
  const share = floor / hit.score
  const signals = Object.fromEntries(
    Object.entries(hit.signals).map(([name, value]) => [name, value * share]),
  )
  return { ...hit, score: floor, signals }
}

function sortHits(hits: RankedHit[], { sortBy, sortOrder }: StoreQuery, files: FileAccess): RankedHit[] {
  const direction = sortOrder === 'asc' ? -1 : 1
  const accesses = sortBy === 'accessCount' || sortBy === 'lastAccess' ? files.accesses() : undefined
  const measure = ({ document, score }: RankedHit): number =>
    sortBy === 'relevance'
      ? score
      : sortBy === 'recency'
        ? document.updated
        : sortBy === 'lastAccess'
          ? Math.max(document.updated, accesses?.get(document.key)?.at ?? 0)
          : (accesses?.get(document.key)?.count ?? 0)
  return hits.sort(
    (a, b) =>
      direction * (measure(b) - measure(a)) ||
      direction *
        (b.document.updated - a.document.updated || compareCodePoints(a.document.key, b.document.key)) ||
      compareCodePoints(a.document.key, b.document.key),
  )
}

function passes(row: DocumentRow, filter: Filter | undefined, files: FileAccess): boolean {
  if (!filter || isEverything(filter)) return true
  const metadata = rowMetadata(row, files)
  // The index holds the members of small values; text values have none that a filter could name.
  const fields = row.fields === null ? undefined : (JSON.parse(row.fields) as JsonValue)
  if (fields !== undefined && row.number === null) return matchesFilter(filter, { value: fields, metadata })
  if (fields !== undefined && !mentions(filter, 'body'))
    return matchesFilter(filter, { value: fields, metadata })
  const value = files.value(row)
  return value !== undefined && matchesFilter(filter, { value, metadata })
}

/** Metadata that filters fall back to. */
function rowMetadata(row: DocumentRow, files: FileAccess): Record<string, JsonValue> {
  const fields = row.fields === null ? null : (JSON.parse(row.fields) as JsonValue)
  const rate = isJsonObject(fields) ? fields.successRate : undefined
  return {
    key: row.key,
    scope: memoryScopes[row.scope] as string,
    namespace: row.namespace,
    type: row.type,
    tags: splitTags(row.tags),
    createdAt: row.created,
    updatedAt: row.updated,
    get accessedAt() {
      return files.accesses().get(row.key)?.at ?? row.created
    },
    get accessCount() {
      return files.accesses().get(row.key)?.count ?? 0
    },
    expiresAt: row.expires,
    get encrypted() {
      return isEnvelope(fields ?? files.value(row) ?? null)
    },
    embeddingModel: null,
    successRate: typeof rate === 'number' ? rate : null,
  }
}

/** Whether a filter looks at a member of the value. */
function mentions(filter: Filter, member: string): boolean {
  if (filter.kind === 'all' || filter.kind === 'any')
    return filter.filters.some((part) => mentions(part, member))
  if (filter.kind === 'not') return mentions(filter.filter, member)
  return filter.path.length === 0 || filter.path[0] === member
}
