import { create, insertMultiple, search as searchOrama } from '@orama/orama'
import { DatabaseSync } from '@photostructure/sqlite'
import type { Embedder } from '@recall/core'
import MiniSearch from 'minisearch'
import type { Collection } from './data-set.ts'
import { depth, type Ranking, type Retriever } from './retriever.ts'

/** Scores by document, of the documents that a retriever found. */
type Scored = Map<string, number>

/** A retriever defined by its scores. */
interface Scorer {
  name: string
  open(collection: Collection): Promise<(text: string) => Promise<Scored>>
}

/** Words that say nothing about a subject; SQLite has no such list. */
const stopWords = new Set(
  `a an and are as at be but by did do does for from had has have he her him his how i if in into is it its me my of on
  or our she that the their them there they this to was we were what when where which who why will with would you
  your`.split(/\s+/),
)

/** FTS5 with the Porter stemmer, any of the words, by its own BM25. */
export const fts5: Scorer = {
  name: 'BM25 (SQLite FTS5, porter)',
  async open({ docs }) {
    const database = new DatabaseSync(':memory:')
    database.exec("CREATE VIRTUAL TABLE docs USING fts5(text, tokenize='porter unicode61')")
    const insert = database.prepare('INSERT INTO docs (rowid, text) VALUES (?, ?)')
    for (const [i, { text }] of docs.entries()) insert.run(i, text)
    const find = database.prepare(
      'SELECT rowid AS i, -bm25(docs) AS score FROM docs WHERE docs MATCH ? ORDER BY score DESC LIMIT ?',
    )
    // A statement does not keep its database from being garbage-collected, which closes it.
    const index = { database, find }
    return async (text) => {
      const words = [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])]
      const telling = words.filter((word) => !stopWords.has(word))
      const asked = telling.length > 0 ? telling : words
      if (asked.length === 0) return new Map()
      const rows = index.find.all(asked.map((word) => `"${word}"`).join(' OR '), depth) as {
        i: number
        score: number
      }[]
      return new Map(rows.map(({ i, score }) => [docs[i]?.id as string, score]))
    }
  },
}

export const miniSearch: Scorer = {
  name: 'minisearch 7.2 (defaults)',
  async open({ docs }) {
    const index = new MiniSearch({ fields: ['text'] })
    index.addAll(docs.map(({ id, text }, i) => ({ id: i, text, key: id })))
    return async (text) =>
      new Map(
        index
          .search(text)
          .slice(0, depth)
          .map(({ id, score }) => [docs[id as number]?.id as string, score]),
      )
  },
}

export const orama: Scorer = {
  name: 'Orama 3.1 (English, stemmed)',
  async open({ docs }) {
    const index = create({
      schema: { text: 'string' } as const,
      components: { tokenizer: { language: 'english', stemming: true } },
    })
    const ids = await insertMultiple(
      index,
      docs.map(({ text }) => ({ text })),
    )
    const positions = new Map(ids.map((id, i) => [id, i]))
    return async (text) => {
      const { hits } = await searchOrama(index, { term: text, limit: depth })
      return new Map(hits.map(({ id, score }) => [docs[positions.get(id) as number]?.id as string, score]))
    }
  },
}

/** Exact cosine over every document. */
export function dense(embedder: Embedder): Scorer {
  return {
    name: `dense (${embedder.model})`,
    async open({ docs }) {
      const vectors = await embedder.embed(
        docs.map(({ text }) => text),
        'document',
      )
      return async (text) => {
        const [query] = await embedder.embed([text], 'query')
        const scores = vectors.map((vector, i): [string, number] => [
          docs[i]?.id as string,
          vector.reduce((sum, value, j) => sum + value * (query?.[j] as number), 0),
        ])
        return best(new Map(scores))
      }
    },
  }
}

/** Both lists scaled to 0..1, then mixed: `share` of the first one. */
export const convex = (a: Scorer, b: Scorer, share: number): Scorer =>
  combined(`fixed mixture ${share} of ${short(a)} + ${short(b)}`, a, b, (left, right) => {
    const scores: Scored = new Map()
    const [first, second] = [toUnit(left), toUnit(right)]
    for (const id of new Set([...first.keys(), ...second.keys()])) {
      scores.set(id, share * (first.get(id) ?? 0) + (1 - share) * (second.get(id) ?? 0))
    }
    return scores
  })

/** Reciprocal rank fusion (Cormack et al. 2009) with k = 60. */
export const reciprocalRankFusion = (a: Scorer, b: Scorer): Scorer =>
  combined(`RRF of ${short(a)} + ${short(b)}`, a, b, (left, right) => {
    const scores: Scored = new Map()
    for (const list of [left, right]) {
      ;[...best(list).keys()].forEach((id, rank) => {
        scores.set(id, (scores.get(id) ?? 0) + 1 / (60 + rank + 1))
      })
    }
    return scores
  })

function combined(name: string, a: Scorer, b: Scorer, mix: (left: Scored, right: Scored) => Scored): Scorer {
  return {
    name,
    async open(collection) {
      const [left, right] = [await a.open(collection), await b.open(collection)]
      return async (text) => mix(await left(text), await right(text))
    },
  }
}

export function asRetriever(scorer: Scorer): Retriever {
  return {
    name: scorer.name,
    async open(collection) {
      const score = await scorer.open(collection)
      return {
        async search(text): Promise<Ranking> {
          return { docs: [...best(await score(text)).keys()] }
        },
        async close() {},
      }
    },
  }
}

const short = ({ name }: Scorer): string => name.split(' ')[0] as string

const best = (scores: Scored): Scored => new Map([...scores].sort(([, a], [, b]) => b - a).slice(0, depth))

function toUnit(scores: Scored): Scored {
  const values = [...scores.values()]
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return new Map([...scores].map(([id, score]) => [id, high > low ? (score - low) / (high - low) : 1]))
}
