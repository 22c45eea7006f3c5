import { createHash, randomUUID } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import type { Embedder } from '@recall/core'
import { rankWeights } from '@recall/core/ranking'
import { cachedEmbedder } from '@recall/embeddings'
import { localEmbedder, type Runtime } from '@recall/embeddings/local'
import { openPgliteMemory } from '@recall/store-postgres/pglite'
import { openPostgresMemory } from '@recall/store-postgres/postgres'
import type { Collection, DataSet } from '../quality/data-set.ts'
import { documentCache } from '../quality/document-cache.ts'
import { allAt, ndcg, precisionAt, recallAt, reciprocalRank } from '../quality/metrics.ts'
import {
  asRetriever,
  convex,
  dense,
  fts5,
  miniSearch,
  orama,
  reciprocalRankFusion,
} from '../quality/peers.ts'
import { recallRetriever } from '../quality/recall-retriever.ts'
import {
  type Abstention,
  type Answer,
  commonThreshold,
  type LeftOut,
  type RetrieverResult,
} from '../quality/results.ts'
import type { Ranking, Retriever } from '../quality/retriever.ts'
import { median } from '../statistics.ts'

export interface QualitySettings {
  runtime?: Runtime
  /** Also the rows that leave out one signal each. */
  ablation: boolean
  /** Instead, the same memory in other stores: embedded, in a hub, and on this server if there is one. */
  stores: boolean
  /** Also asks every question where its evidence is missing. */
  abstention: boolean
  postgres?: string
  say(text: string): void
}

/** The results of every retriever on a data set, and the runtime of the model. */
export async function measureQuality(
  set: DataSet,
  settings: QualitySettings,
): Promise<{ results: RetrieverResult[]; runtime: Runtime | undefined }> {
  const { say, postgres } = settings
  const model = localEmbedder(settings.runtime ? { runtime: settings.runtime } : {})
  const embedder = documentCache(model)
  const meaning = dense(embedder)
  const retrievers: Retriever[] = [
    recallRetriever({ name: 'Recall', embedder, abstains: settings.abstention }),
    recallRetriever({ name: 'Recall, words alone' }),
    ...(settings.stores
      ? inOtherStores(embedder, postgres)
      : [
          ...(settings.ablation
            ? Object.entries(ablations).map(([name, ranking]) =>
                recallRetriever({ name: `Recall without ${name}`, embedder, ranking }),
              )
            : []),
          asRetriever(convex(meaning, fts5, 0.5)),
          asRetriever(reciprocalRankFusion(meaning, fts5)),
          asRetriever(meaning),
          asRetriever(fts5),
          asRetriever(miniSearch),
          asRetriever(orama),
        ]),
  ]
  const results: RetrieverResult[] = []
  for (const retriever of retrievers) {
    const result = await measure(retriever, set.collections)
    say(`${retriever.name}: ${JSON.stringify(result.measures)}`)
    results.push(result)
  }
  const { runtime } = model
  await embedder.close?.()
  return { results, runtime }
}

/** The same memory in stores other than files. */
const inOtherStores = (embedder: Embedder, url: string | undefined): Retriever[] => [
  ...(url
    ? [
        recallRetriever({
          name: 'Recall on Postgres',
          embedder,
          openMemory: (options) => openPostgresMemory({ ...options, url, namespace: randomUUID() }),
        }),
      ]
    : []),
  recallRetriever({ name: 'Recall on PGlite', embedder, openMemory: openPgliteMemory }),
  recallRetriever({
    name: 'Recall in a hub',
    embedder,
    // Imported only when wanted: its test helpers report which of them are left out.
    openMemory: async (options) => (await import('../quality/hub-memory.ts')).openHubMemory(options),
  }),
  recallRetriever({ name: 'Recall on PGlite, words alone', openMemory: openPgliteMemory }),
]

/** Each leaves out one signal; the others keep their weights. */
const ablations = {
  'the words of the neighbours': { context: 0 },
  'the meaning of the neighbours': { neighbour: 0 },
  'the surroundings': { surroundings: 0 },
  'the document': { document: 0 },
  'the label': { label: 0 },
  'the price of parts': { parts: 0 },
  'the meaning of notes growing with the noise of words': { ambiguity: 0 },
  recency: { recency: 0 },
  'noise below the 50th': { words: 0.5, noise: 0.5 },
} satisfies Record<string, Partial<typeof rankWeights>>

/** Tries steps around the published weights and chooses, for each collection, by recall@10 on the others. */
export async function leaveOneOut(set: DataSet, settings: QualitySettings): Promise<LeftOut[]> {
  const { runtime, say } = settings
  const embedder = cachedEmbedder(localEmbedder(runtime ? { runtime } : {}), { max: 200_000 })
  const tried = [{}, ...steps(rankWeights)]
  const results: Record<string, number>[] = []
  for (const ranking of tried) {
    const { byCollection } = await measure(
      recallRetriever({ name: 'Recall', embedder, ranking }),
      set.collections,
    )
    say(`${JSON.stringify(ranking)}: ${JSON.stringify(byCollection)}`)
    results.push(byCollection)
  }
  await embedder.close?.()
  return set.collections.map(({ id }) => {
    const onOthers = results.map((byCollection) =>
      Object.entries(byCollection).reduce((sum, [other, value]) => sum + (other === id ? 0 : value), 0),
    )
    const best = onOthers.indexOf(Math.max(...onOthers))
    return {
      collection: id,
      chosen: tried[best] ?? {},
      leftOut: results[best]?.[id] ?? 0,
      published: results[0]?.[id] ?? 0,
    }
  })
}

/** Each telling weight, a third lower and a third higher. */
const steps = (weights: typeof rankWeights): Record<string, number>[] =>
  (['context', 'surroundings', 'document', 'turnMeaning', 'noteMeaning', 'label'] as const).flatMap((name) =>
    [2 / 3, 4 / 3].map((factor) => ({ [name]: round(weights[name] * factor, 3) })),
  )

/** The results of one retriever for every question. */
export async function measure(
  retriever: Retriever,
  collections: readonly Collection[],
): Promise<RetrieverResult> {
  const answers: Answer[] = []
  const times: number[] = []
  for (const collection of collections) {
    const opened = await retriever.open(collection)
    const sessionOf = new Map(collection.docs.map(({ id, session }) => [id, session]))
    for (const query of collection.queries) {
      const started = performance.now()
      const ranking = await opened.search(query.text)
      times.push(performance.now() - started)
      answers.push(judge(ranking, query, collection.id, sessionOf))
    }
    for (const [i, query] of collection.queries.entries()) {
      const { confidence } = (await opened.searchWithout?.(query.gold, query.text)) ?? {}
      const answer = answers.at(i - collection.queries.length)
      if (confidence !== undefined && answer?.confidence) answer.confidence.withoutEvidence = confidence
    }
    await opened.close()
  }
  const abstention = abstain(answers)
  return {
    name: retriever.name,
    measures: averages(answers),
    byCollection: groupBy(answers, ({ collection }) => collection),
    byCategory: groupBy(answers, ({ category }) => category),
    searchMs: round(median(times), 1),
    ...(abstention ? { abstention } : {}),
    answers,
  }
}

/**
 * The average of each measure over the answers that have it: a question that no session answers says nothing about
 * sessions.
 */
function averages(answers: readonly Answer[]): Record<string, number> {
  const values = new Map<string, number[]>()
  for (const [name, value] of answers.flatMap(({ measures }) => Object.entries(measures))) {
    const own = values.get(name)
    if (own) own.push(value)
    else values.set(name, [value])
  }
  return Object.fromEntries([...values].map(([name, own]) => [name, percent(own)]))
}

function judge(
  { docs, sessions, confidence }: Ranking,
  query: Collection['queries'][number],
  collection: string,
  sessionOf: ReadonlyMap<string, string | null>,
): Answer {
  const { gold } = query
  const goldSessions = [...new Set(gold.flatMap((id) => sessionOf.get(id) ?? []))]
  const inOrder = sessions ?? [...new Set(docs.flatMap((id) => sessionOf.get(id) ?? []))]
  return {
    question: query.id,
    collection,
    category: query.category,
    found: docs.slice(0, 10),
    gold,
    measures: {
      'recall@1': recallAt(1, docs, gold),
      'recall@5': recallAt(5, docs, gold),
      'recall@10': recallAt(10, docs, gold),
      'all@5': allAt(5, docs, gold),
      'precision@5': precisionAt(5, docs, gold),
      'MRR@10': reciprocalRank(docs, gold),
      'nDCG@10': ndcg(docs, gold),
      ...(goldSessions.length > 0
        ? {
            'session recall@5': recallAt(5, inOrder, goldSessions),
            'session nDCG@10': ndcg(inOrder, goldSessions),
          }
        : {}),
    },
    ...(confidence === undefined
      ? {}
      : { confidence: { answerable: confidence, withoutEvidence: Number.NaN } }),
  }
}

function abstain(answers: readonly Answer[]): Abstention | undefined {
  const judged = answers.flatMap(({ confidence, measures }) =>
    confidence && !Number.isNaN(confidence.withoutEvidence)
      ? { ...confidence, recall: measures['recall@5'] ?? 0 }
      : [],
  )
  if (judged.length === 0) return undefined
  const lostBelow = (threshold: number): number =>
    percent(judged.map(({ answerable, recall }) => (answerable < threshold ? recall : 0)))
  const refusedBelow = (threshold: number): number =>
    percent(judged.map(({ withoutEvidence }) => (withoutEvidence < threshold ? 1 : 0)))
  const thresholds = judged.map(({ answerable }) => answerable).sort((a, b) => a - b)
  const threshold = thresholds.findLast((each) => lostBelow(each) <= 3) ?? 0
  return {
    threshold: round(threshold, 3),
    refused: refusedBelow(threshold),
    lostAtCommon: lostBelow(commonThreshold),
    refusedAtCommon: refusedBelow(commonThreshold),
  }
}

function groupBy(answers: readonly Answer[], group: (answer: Answer) => string): Record<string, number> {
  const groups = new Map<string, number[]>()
  for (const answer of answers) {
    groups.set(group(answer), [...(groups.get(group(answer)) ?? []), answer.measures['recall@10'] ?? 0])
  }
  return Object.fromEntries([...groups].map(([name, values]) => [name, percent(values)]))
}

const round = (value: number, digits: number): number => Math.round(value * 10 ** digits) / 10 ** digits

const percent = (values: readonly number[]): number =>
  round((100 * values.reduce((sum, value) => sum + value, 0)) / values.length, 1)

/** The part of a result that is kept: every question for the first rows of the table, averages for all. */
export function slim({ answers, ...result }: RetrieverResult, row: number): object {
  if (row >= rowsKeptWhole) return result
  return {
    ...result,
    answers: answers.map(({ question, found, measures }) => [
      question,
      measures['recall@10'],
      found.join(' '),
    ]),
  }
}

const rowsKeptWhole = 2

/** Distinguishes versions of a data set: the hash of its file, or of what was read from its folder. */
export function hashOf(path: string, set: DataSet): string {
  const content = statSync(path).isDirectory() ? JSON.stringify(set.collections) : readFileSync(path)
  return createHash('sha256').update(content).digest('hex').slice(0, 16)
}
