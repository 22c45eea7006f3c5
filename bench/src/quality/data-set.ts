/** Documents and questions with known evidence. */
export interface DataSet {
  name: string
  collections: Collection[]
  /** How often a question named evidence that is not a document, if ever; it was left out. */
  missingGold?: number
}

/** One memory: what one person or team would keep. */
export interface Collection {
  id: string
  docs: Doc[]
  queries: Query[]
}

export interface Doc {
  id: string
  /** The conversation that it is a turn of, if any; turns are in order. */
  session: string | null
  /** ISO 8601. */
  time: string | null
  text: string
}

export interface Query {
  id: string
  text: string
  /** Documents that answer it. */
  gold: string[]
  category: string
}

/** Combines all collections of some data sets into one memory, where each question has everything else as noise. */
export function together(sets: readonly DataSet[]): DataSet {
  const collections = sets.flatMap(({ name, collections }) =>
    collections.map((collection) => prefixed(collection, `${name}/${collection.id}/`)),
  )
  const missingGold = sets.reduce((sum, set) => sum + (set.missingGold ?? 0), 0)
  return {
    name: 'together',
    ...(missingGold > 0 ? { missingGold } : {}),
    collections: [
      {
        id: 'together',
        docs: collections.flatMap(({ docs }) => docs),
        queries: collections.flatMap(({ queries }) => queries),
      },
    ],
  }
}

const prefixed = ({ id, docs, queries }: Collection, prefix: string): Collection => ({
  id,
  docs: docs.map((doc) => ({
    ...doc,
    id: prefix + doc.id,
    session: doc.session === null ? null : prefix + doc.session,
  })),
  queries: queries.map((query) => ({
    ...query,
    id: prefix + query.id,
    gold: query.gold.map((gold) => prefix + gold),
  })),
})
