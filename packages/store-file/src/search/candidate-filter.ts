import type { StoreQuery } from '@recall/core'
import type { Conditions } from '../search-index/conditions.ts'
import type { RankedDocument } from '../search-index/document-row.ts'
import type { SearchIndex } from '../search-index/search-index.ts'
import { spare, unlimited, wantedOf } from './candidate-limits.ts'
import { narrowingOf } from './narrowing.ts'
import { type FileAccess, isEverything, passes } from './row-filter.ts'

export const conditionsOf = ({ scope, namespace, now, tags, filter }: StoreQuery): Conditions => ({
  scope,
  namespace,
  now,
  tags: tags ?? [],
  narrowing: filter && narrowingOf(filter),
})

/** The conditions that an entry must fulfil to be found, whichever way a search came upon it. */
export interface CandidateFilter {
  conditions: Conditions
  /** Whether the scope holds entries that do not fulfil the conditions. */
  isConditional: boolean
  /** Looks at documents, by id, once each; the returned function tells which of them may be found. */
  judge(documents: readonly number[]): (id: number) => boolean
}

export function createCandidateFilter(
  index: SearchIndex,
  query: StoreQuery,
  files: FileAccess,
): CandidateFilter {
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

/** The units, in their order, of the first `pool` entries that pass the query's conditions. */
export function accept(
  index: SearchIndex,
  query: StoreQuery,
  candidateFilter: CandidateFilter,
  units: (limit: number) => number[],
  pool: number,
): { id: number; document: RankedDocument }[] {
  const wanted = wantedOf(query, pool)
  for (let limit = Math.min(pool + spare, unlimited); ; limit = Math.min(limit * 4, unlimited)) {
    const ids = units(limit)
    const accepted = acceptedUnits(index, candidateFilter, ids)
    if ((accepted.length >= pool && countDocuments(accepted) >= wanted) || ids.length < limit) {
      return pool === unlimited ? accepted : accepted.slice(0, Math.max(pool, lastNeeded(accepted, wanted)))
    }
  }
}

export const countDocuments = (units: readonly { document: RankedDocument }[]): number =>
  new Set(units.map(({ document }) => document.id)).size

/** How many units to fetch to see this many documents, or all when there are fewer. */
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
  candidateFilter: CandidateFilter,
  ids: readonly number[],
): { id: number; document: RankedDocument }[] {
  const accepted: { id: number; document: RankedDocument }[] = []
  for (let i = 0; i < ids.length; i += rowsAtOnce) {
    const some = ids.slice(i, i + rowsAtOnce)
    const documents = index.documentsOfUnits(some)
    const lets = candidateFilter.judge([...documents.values()].map(({ id }) => id))
    for (const id of some) {
      const document = documents.get(id)
      if (document && lets(document.id)) accepted.push({ id, document })
    }
  }
  return accepted
}

const rowsAtOnce = 500
