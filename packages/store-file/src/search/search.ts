import type { StoreQuery } from '@recall/core'
import {
  appendCapped,
  confidenceRank,
  depthGrowth,
  type RankedUnit,
  type RankWeights,
} from '@recall/core/ranking'
import { compareCodePoints } from '@recall/core/text'
import type { DocumentRow, RankedDocument } from '../search-index/document-row.ts'
import type { SearchIndex } from '../search-index/search-index.ts'
import type { MeaningArm } from '../vectors/meaning-arm.ts'
import { conditionsOf } from './candidate-filter.ts'
import { isBestFirst } from './candidate-limits.ts'
import { rankMatches } from './rank-matches.ts'
import { type FileAccess, isEverything, passes } from './row-filter.ts'

/** One entry that matches, with its best units. */
export interface Hit {
  row: DocumentRow
  /** Its matching units, best first; empty when the query has no text. */
  units: Pick<RankedUnit<unknown>, 'unit' | 'score' | 'confidence' | 'signals'>[]
  score: number
  /** Absent when the query has no text. */
  confidence?: number
  signals: Record<string, number>
}

interface RankedHit extends Omit<Hit, 'row'> {
  document: RankedDocument
}

/** The entries that a query asks for, in order. */
export function searchDocuments(
  index: SearchIndex,
  query: StoreQuery,
  files: FileAccess,
  weights: RankWeights,
  meaning?: MeaningArm,
): Hit[] {
  if (index.isEmpty(query.scope)) return []
  const isList = query.text === undefined && !meaning
  if (isList && !isByUse(query) && isEverything(query.filter)) return listPage(index, query)
  const hits = isList ? listHits(index, query, files) : matchHits(index, query, files, meaning, weights)
  const page = hits.slice(query.offset, query.offset + query.limit)
  const rows = new Map(index.documents(page.map(({ document }) => document.id)).map((row) => [row.id, row]))
  return page.flatMap(({ document, ...hit }) => {
    const row = rows.get(document.id)
    return row ? [{ row, ...hit }] : []
  })
}

const isByUse = ({ sortBy }: Pick<StoreQuery, 'sortBy'>): boolean =>
  sortBy === 'accessCount' || sortBy === 'lastAccess'

const listed = () => ({ units: [], score: 1, signals: {} })

const listPage = (index: SearchIndex, query: StoreQuery): Hit[] =>
  index.page(conditionsOf(query), query.sortOrder, query).map((row) => ({ row, ...listed() }))

function listHits(index: SearchIndex, query: StoreQuery, files: FileAccess): RankedHit[] {
  const byUse = isByUse(query)
  const hits: RankedHit[] = []
  for (const row of index.list(conditionsOf(query), byUse ? 'desc' : query.sortOrder)) {
    if (!passes(row, query.filter, files)) continue
    hits.push({ document: row, ...listed() })
    if (!byUse && hits.length === query.offset + query.limit) break
  }
  return byUse ? sortHits(hits, query, files) : hits
}

function matchHits(
  index: SearchIndex,
  query: StoreQuery,
  files: FileAccess,
  meaning: MeaningArm | undefined,
  weights: RankWeights,
): RankedHit[] {
  const hitsFor = (asked: StoreQuery): RankedHit[] =>
    sortHits(hitsOf(query, rankMatches(index, asked, files, meaning, weights)), query, files)
  const hits = isBestFirst(query) ? bestHits(query, hitsFor) : hitsFor(query)
  return hits.filter(({ score }) => score >= query.minScore)
}

/** Enough hits for a page, best first. */
function bestHits(query: StoreQuery, hitsFor: (asked: StoreQuery) => RankedHit[]): RankedHit[] {
  let hits: RankedHit[] = []
  for (let depth = confidenceRank; ; depth *= depthGrowth) {
    const found = hitsFor({ ...query, offset: 0, limit: depth })
    hits = appendCapped(hits, found, ({ document }) => document.id)
    if (hits.length >= query.offset + query.limit || found.length < depth) return hits
  }
}

function hitsOf({ text }: StoreQuery, ranked: readonly RankedUnit<RankedDocument>[]): RankedHit[] {
  const byDocument = new Map<number, { document: RankedDocument; found: RankedUnit<RankedDocument>[] }>()
  for (const unit of ranked) {
    const known = byDocument.get(unit.document.id)
    if (known) known.found.push(unit)
    else byDocument.set(unit.document.id, { document: unit.document, found: [unit] })
  }
  return [...byDocument.values()].map(({ document, found }) => {
    const { score, confidence, signals } = found[0] as RankedUnit<RankedDocument>
    return { document, units: found, score, ...(text === undefined ? {} : { confidence }), signals }
  })
}

function sortHits(hits: RankedHit[], { sortBy, sortOrder }: StoreQuery, files: FileAccess): RankedHit[] {
  const direction = sortOrder === 'asc' ? -1 : 1
  const measures: Record<StoreQuery['sortBy'], (hit: RankedHit) => number> = {
    relevance: ({ score }) => score,
    recency: ({ document }) => document.updated,
    lastAccess: ({ document }) => Math.max(document.updated, files.use(document).at),
    accessCount: ({ document }) => files.use(document).count,
  }
  const measure = measures[sortBy]
  return hits.sort(
    (a, b) =>
      direction * (measure(b) - measure(a)) ||
      direction * (b.document.updated - a.document.updated) ||
      compareCodePoints(a.document.key, b.document.key),
  )
}
