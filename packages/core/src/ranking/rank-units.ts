import { confidenceOf, confidenceRank } from './confidence.ts'

/**
 * One ranking for every store: how well each unit (a turn, a section, a few paragraphs) answers a query, from
 * what a store can say about it. Pure; the figures behind the weights are in `docs/decisions/0013-ranking.md`.
 */

/** What a store knows of one candidate. Candidates are the best units of each arm, and their neighbours. */
export interface UnitEvidence<Document> {
  document: Document
  /** Position of the unit in its document, from 0. */
  unit: number
  /** BM25 of the query in the unit; 0 when none of its words occurs. */
  bm25: number
  /** Cosine of the unit's vector and the query's, when both exist. */
  similarity?: number
  /** Whether the unit's label (who speaks, or its heading) holds a word of the query. */
  labelled?: boolean
  /** Milliseconds since the document was last written; negative ages count as zero. */
  ageMs: number
}

/** What is known of the query as a whole. */
export interface QueryEvidence<Document> {
  /** About the BM25 of a unit that holds every word of the query once: it only sets the scale. */
  bm25Bound: number
  /** BM25 of the candidate at rank `noiseRank`, 0 when there are fewer: what the query finds anywhere. */
  bm25Noise: number
  /** How the similarities of all units are spread, when vectors take part. */
  spread?: Spread
  /** For documents of several units: the share of the query, by rarity of its words, found anywhere in it. */
  coverage?: ReadonlyMap<Document, number>
}

/** Distribution of the cosine over every unit that could be found. */
export interface Spread {
  count: number
  mean: number
  deviation: number
  /** The highest one. */
  best: number
}

export interface RankedUnit<Document> {
  document: Document
  unit: number
  /** 0..1; 0.5 is a strength of 1. */
  score: number
  /** How likely the memory knows what was asked, judged by this unit; see `confidenceOf`. */
  confidence: number
  /** What each signal contributed; the shares add up to the score. */
  signals: Record<string, number>
}

/** How much each signal can count. A unit whose own words match whole reaches about 1 by them alone. */
export const rankWeights = {
  /** Share of BM25's bound that stands out of the noise. */
  words: 1,
  /** BM25 below the noise still orders what nothing else tells apart. */
  noise: 0.1,
  /** What the words of the turn before and after count for. */
  context: 0.4,
  /** A standard deviation of the cosine, when the best vector stands out as chance would have it. */
  meaning: 0.18,
  /** The most a standard deviation counts, however far the best one stands out. */
  mostMeaning: 0.4,
  /** The whole query found anywhere in the document. */
  document: 0.3,
  label: 0.1,
  /** Only breaks near-ties. */
  recency: 0.02,
}

/** Another set of them, to measure with or to suit a collection. */
export type RankWeights = typeof rankWeights

/** The rank at which a match is taken for noise. */
export const noiseRank = 50

/** After this long, recency counts half. */
export const recencyHalfLifeMs = 30 * 24 * 60 * 60 * 1000

/** Units that match, best first. Those that neither words nor meaning speak for are left out. */
export function rankUnits<Document>(
  candidates: readonly UnitEvidence<Document>[],
  query: QueryEvidence<Document>,
  weights: RankWeights = rankWeights,
): RankedUnit<Document>[] {
  const words = wordStrengths(candidates, query, weights)
  const worthOfMeaning = query.spread ? deviationWorth(query.spread, weights) : 0
  const ranked: Omit<RankedUnit<Document>, 'confidence'>[] = []
  for (const candidate of candidates) {
    const { document, unit } = candidate
    const around = words.get(document)
    const deviations = deviationsAbove(candidate.similarity, query.spread)
    const own = around?.get(unit) ?? 0
    if (own === 0 && deviations < leastDeviations) continue
    const signals = {
      words: own,
      context: weights.context * ((around?.get(unit - 1) ?? 0) + (around?.get(unit + 1) ?? 0)),
      meaning: Math.max(0, deviations) * worthOfMeaning,
      document: weights.document * (query.coverage?.get(document) ?? 0),
      label: candidate.labelled ? weights.label : 0,
      recency: weights.recency * 2 ** (-Math.max(0, candidate.ageMs) / recencyHalfLifeMs),
    }
    ranked.push({ document, unit, ...scoreOf(signals) })
  }
  ranked.sort((a, b) => b.score - a.score)
  const tenth = ranked[confidenceRank - 1]?.score ?? 0
  return ranked.map((each) => ({ ...each, confidence: confidenceOf(each.score, tenth) }))
}

/**
 * How much of the query a unit's words answer. BM25 (Robertson & Zaragoza 2009) is compared to its bound, so
 * that short and long queries mean the same, and to what the query finds anywhere: where fifty units match
 * alike, matching says little.
 */
function wordStrengths<Document>(
  candidates: readonly UnitEvidence<Document>[],
  { bm25Bound, bm25Noise }: QueryEvidence<Document>,
  weights: RankWeights,
): Map<Document, Map<number, number>> {
  const strengths = new Map<Document, Map<number, number>>()
  for (const { document, unit, bm25 } of candidates) {
    if (bm25 <= 0) continue
    const above = weights.words * Math.max(0, bm25 - bm25Noise) + weights.noise * bm25
    const units = strengths.get(document) ?? new Map<number, number>()
    strengths.set(document, units.set(unit, above / bm25Bound))
  }
  return strengths
}

/** Standard deviations of the cosine above its mean over every unit: each model sets its own scale. */
const deviationsAbove = (similarity: number | undefined, spread: Spread | undefined): number =>
  similarity === undefined || !spread ? 0 : (similarity - spread.mean) / spread.deviation

/** Fewer of them are no reason to be found where no word is. */
const leastDeviations = 1.5

/**
 * What a standard deviation counts for this query: more, the further the best vector stands out of what
 * `count` draws from a normal distribution would give, `√(2 ln count)`. Where the best one is unremarkable the
 * words decide.
 */
function deviationWorth({ count, mean, deviation, best }: Spread, weights: RankWeights): number {
  const remarkable = (best - mean) / deviation - Math.sqrt(2 * Math.log(count))
  return Math.min(weights.mostMeaning, weights.meaning * Math.exp(remarkable))
}

/** Parts that add up to a strength become shares that add up to a score of 0..1. */
function scoreOf(parts: Record<string, number>): { score: number; signals: Record<string, number> } {
  const strength = Object.values(parts).reduce((sum, part) => sum + part, 0)
  const score = strength ** 2 / (strength ** 2 + 1)
  const signals: Record<string, number> = {}
  for (const [name, part] of Object.entries(parts)) {
    if (part > 0) signals[name] = (score * part) / strength
  }
  return { score, signals }
}

/**
 * The spread of some similarities, with a few imagined ones of unrelated texts added: of three memories alone
 * no deviation can be told.
 *
 * @param unrelated mean and deviation of the cosine of unrelated texts for the model, where it is known
 */
export function spreadOf(
  { count, sum, squares, best }: { count: number; sum: number; squares: number; best: number },
  unrelated: { mean: number; deviation: number } = { mean: 0, deviation: 0.2 },
): Spread {
  const total = count + imagined
  const mean = (sum + imagined * unrelated.mean) / total
  const square = (squares + imagined * (unrelated.mean ** 2 + unrelated.deviation ** 2)) / total
  return { count: total, mean, deviation: Math.sqrt(Math.max(1e-9, square - mean ** 2)), best }
}

const imagined = 50
