import { UsageError } from '../options.ts'
import type { Collection, DataSet } from './data-set.ts'

/**
 * A data set in which every id is unique and all evidence exists. Exact repetitions are taken once; evidence that is
 * not a document is left out and counted.
 *
 * @throws UsageError when an id means two things, or no evidence is left
 */
export function checkedDataSet({ name, collections }: DataSet, path: string): DataSet {
  const twice = firstRepeated(collections.map(({ id }) => id))
  if (twice !== undefined) throw new UsageError(`${path} has two collections "${twice}".`)
  const distinct = collections.map((collection) => ({
    ...collection,
    docs: once(collection.docs, `${path} has two documents`),
    queries: once(collection.queries, `${path} has two questions`),
  }))
  const known = distinct.map(withKnownGold)
  const count = (sets: readonly Collection[]): number =>
    sets.flatMap(({ queries }) => queries.flatMap(({ gold }) => gold)).length
  const missing = count(distinct) - count(known)
  if (count(distinct) === 0) throw new UsageError(`${path} holds no question with evidence in it.`)
  if (count(known) === 0)
    throw new UsageError(
      `${path} holds no question whose evidence is one of its documents: are ids written alike?`,
    )
  return { name, collections: known, ...(missing > 0 ? { missingGold: missing } : {}) }
}

function withKnownGold({ id, docs, queries }: Collection): Collection {
  const ids = new Set(docs.map((doc) => doc.id))
  const known = queries.map((query) => ({ ...query, gold: query.gold.filter((gold) => ids.has(gold)) }))
  return { id, docs, queries: known.filter(({ gold }) => gold.length > 0) }
}

function once<Item extends { id: string }>(items: readonly Item[], what: string): Item[] {
  const different = [...new Map(items.map((item) => [JSON.stringify(item), item])).values()]
  const twice = firstRepeated(different.map(({ id }) => id))
  if (twice !== undefined) throw new UsageError(`${what} "${twice}" that differ.`)
  return different
}

function firstRepeated(ids: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return ids.find((id) => seen.size === seen.add(id).size)
}
