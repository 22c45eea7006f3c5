import { type Basis, confidenceOf, confidenceRank } from './confidence.ts'
import { wholeFirst } from './whole-first.ts'

/**
 * One ranking for every store: how well each unit (a turn, a section, a few paragraphs) answers a query, judged by
 * the evidence that a store gives. Pure; the figures behind the weights are in `docs/decisions/0013-ranking.md`.
 */

/** What a store knows about a candidate. Candidates are the best units by words and by vector, and their neighbours. */
export interface UnitEvidence<Document> {
  document: Document
  /** Position of the unit in its document, from 0. */
  unit: number
  /** How many units its turn was cut into; outside of conversations, how many its document was. */
  parts: number
  /** BM25 of the query in the unit; 0 when none of its words occurs. */
  bm25: number
  /** Whether every word of the query occurs; counts in a search by words alone. */
  isWhole?: boolean | undefined
  /** Cosine of the unit's vector and the query's, when both exist. */
  similarity?: number | undefined
  /** For a turn of a conversation: whether its label (who speaks) holds a word of the query. */
  labelled?: boolean | undefined
  /**
   * For a turn of a conversation: the share of the query's words, weighted by rarity, that occur in it or in the
   * `surroundingReach` turns before and after it.
   */
  surroundings?: number | undefined
  /** Milliseconds since the document was last written; negative ages count as zero. */
  ageMs: number
}

/** What a store knows about the query as a whole. */
export interface QueryEvidence<Document> {
  /** Approximate BM25 of a unit that holds every word of the query once; it only sets the scale. */
  bm25Bound: number
  /** BM25 of the candidate at rank `noiseRank`, 0 when there are fewer: the level that counts as noise. */
  bm25Noise: number
  /** How the similarities of all units are spread, when vectors take part. */
  spread?: Spread | undefined
  /** For conversations of several turns: the share of the query's words, weighted by rarity, that occur in them. */
  coverage?: ReadonlyMap<Document, number> | undefined
}

/** Distribution of the cosine over every unit that could be found. */
export interface Spread {
  mean: number
  deviation: number
}

export interface RankedUnit<Document> {
  document: Document
  unit: number
  /** 0..1; 0.5 is a strength of 1. */
  score: number
  /** Likelihood, 0..1, that the memory holds the answer, judged by this unit; see `confidenceOf`. */
  confidence: number
  /** What each signal contributed; the shares add up to the score. */
  signals: Record<string, number>
}

/** Weight of each signal. A unit that holds every word of the query reaches about 1 by its words alone. */
export const rankWeights = {
  /** BM25 above the noise, as a share of its bound. */
  words: 1,
  /** BM25 including the noise, as a share of its bound: still orders units that nothing else tells apart. */
  noise: 0.1,
  /** The words of the turn before and of the turn after. */
  context: 0.4,
  /** The whole query, found in the turn and the few around it. */
  surroundings: 0.2,
  /** One standard deviation of the cosine of a turn, for a query whose words say no more than usual. */
  turnMeaning: 0.1,
  /** One standard deviation of the cosine of a note, where words tell notes apart. */
  noteMeaning: 0.08,
  /** What `noteMeaning` gains when all of the words' bound is noise. */
  ambiguity: 0.7,
  /**
   * The most for one standard deviation; also its weight when no word of the query is found and meaning is all there
   * is.
   */
  mostMeaning: 0.3,
  /** The share that each of its two neighbours has in the meaning of a turn; the rest is its own. */
  neighbour: 0.15,
  /** Standard deviations subtracted for each doubling of the parts: the best of many is near by chance. */
  parts: 0.15,
  /** The whole query, found anywhere in the conversation. */
  document: 0.2,
  label: 0.15,
  /** Only breaks near-ties. */
  recency: 0.02,
}

/** A set of weights, for a measurement or tuned to a collection. */
export type RankWeights = typeof rankWeights

/** Beyond this many parts, as in a turn with hundreds of tool calls, most are about something else. */
const manyParts = 8

/** The bound of the words of an average question to an average memory. */
const usualBound = 36

/** The rank from which on matches count as noise. */
export const noiseRank = 50

/** How many units before and after a unit are its surroundings. */
export const surroundingReach = 2

/** After this long, recency counts half. */
export const recencyHalfLifeMs = 30 * 24 * 60 * 60 * 1000

/**
 * Ranks the units that match by words or by meaning, and the neighbours of units that match by words, best first; the
 * others are left out.
 */
export function rankUnits<Document>(
  candidates: readonly UnitEvidence<Document>[],
  query: QueryEvidence<Document>,
  weights: RankWeights = rankWeights,
): RankedUnit<Document>[] {
  const words = wordStrengths(candidates, query, weights)
  const deviations = deviationsAbove(candidates, query.spread)
  const worth = deviationWorth(candidates, query, weights)
  const ranked: Omit<RankedUnit<Document>, 'confidence'>[] = []
  for (const candidate of candidates) {
    const { document, unit, parts } = candidate
    const coverage = query.coverage?.get(document)
    const isTurn = coverage !== undefined
    // A turn of several units is understood without the turns around it.
    const isShortTurn = isTurn && parts === 1
    const beside = isShortTurn ? words.beside(document, unit) : 0
    const own = { words: words.at(document, unit), deviation: deviations.at(document, unit) }
    if (own.words === 0 && beside === 0 && own.deviation < leastDeviations) continue
    const deviation = isShortTurn
      ? own.deviation + weights.neighbour * (deviations.beside(document, unit) - 2 * own.deviation)
      : Math.max(0, own.deviation - weights.parts * Math.log2(Math.min(parts, manyParts)))
    const signals = {
      words: own.words,
      context: weights.context * beside,
      surroundings: isShortTurn ? weights.surroundings * (candidate.surroundings ?? 0) : 0,
      meaning: deviation * (isTurn ? worth.ofTurn : worth.ofNote),
      document: weights.document * (coverage ?? 0),
      label: isShortTurn && candidate.labelled ? weights.label : 0,
      recency: weights.recency * 2 ** (-Math.max(0, candidate.ageMs) / recencyHalfLifeMs),
    }
    ranked.push({ document, unit, ...scoreOf(signals) })
  }
  ranked.sort((a, b) => b.score - a.score)
  const tenth = ranked[confidenceRank - 1]?.score ?? 0
  const basis = basisOf(ranked[0], candidates, query)
  const sure = ranked.map((each) => ({ ...each, confidence: confidenceOf(each.score, tenth, basis) }))
  return query.spread ? sure : wholeFirst(sure, documentsHeldWhole(candidates))
}

const documentsHeldWhole = <Document>(candidates: readonly UnitEvidence<Document>[]): Set<Document> =>
  new Set(candidates.filter(({ isWhole }) => isWhole).map(({ document }) => document))

/** In a memory that is embedded only in part, or not yet, the best unit may have been found by its words alone. */
function basisOf<Document>(
  best: Pick<RankedUnit<Document>, 'document' | 'unit'> | undefined,
  candidates: readonly UnitEvidence<Document>[],
  { coverage }: QueryEvidence<Document>,
): Basis {
  const hasMeaning = candidates.some(
    ({ document, unit, similarity }) =>
      document === best?.document && unit === best.unit && similarity !== undefined,
  )
  return {
    kind: best && coverage?.has(best.document) ? 'turn' : 'note',
    by: hasMeaning ? 'meaning' : 'words',
  }
}

/** Figures of units, by document and unit; 0 where there is none. */
function createFigures<Document>() {
  const figures = new Map<Document, Map<number, number>>()
  const at = (document: Document, unit: number): number => figures.get(document)?.get(unit) ?? 0
  return {
    set(document: Document, unit: number, figure: number): void {
      const units = figures.get(document) ?? new Map<number, number>()
      figures.set(document, units.set(unit, figure))
    },
    at,
    /** The sum of the figures of the unit before and of the unit after. */
    beside: (document: Document, unit: number): number => at(document, unit - 1) + at(document, unit + 1),
  }
}

type Figures<Document> = ReturnType<typeof createFigures<Document>>

/**
 * How much of the query each unit's words answer, by document and unit. BM25 (Robertson & Zaragoza 2009) is divided
 * by its bound, so that short and long queries are comparable, and weighs little up to the noise: where fifty units
 * match alike, a match says little.
 */
function wordStrengths<Document>(
  candidates: readonly UnitEvidence<Document>[],
  { bm25Bound, bm25Noise }: QueryEvidence<Document>,
  weights: RankWeights,
): Figures<Document> {
  const strengths = createFigures<Document>()
  for (const { document, unit, bm25 } of candidates) {
    if (bm25 <= 0) continue
    const above = weights.words * Math.max(0, bm25 - bm25Noise) + weights.noise * bm25
    strengths.set(document, unit, above / bm25Bound)
  }
  return strengths
}

/** How many standard deviations each cosine lies above the mean of all units: each model has its own scale. */
function deviationsAbove<Document>(
  candidates: readonly UnitEvidence<Document>[],
  spread: Spread | undefined,
): Figures<Document> {
  const deviations = createFigures<Document>()
  for (const { document, unit, similarity } of candidates) {
    if (!spread || similarity === undefined || similarity <= spread.mean) continue
    deviations.set(document, unit, (similarity - spread.mean) / spread.deviation)
  }
  return deviations
}

/** Standard deviations above the mean that a unit needs to be found by meaning alone. */
const leastDeviations = 1.5

/**
 * Weight of one standard deviation of the cosine for this query. For notes it grows with the share of the words' bound
 * that many units reach alike: where words distinguish little, meaning has to. For turns that share says nothing,
 * because people repeat words when they talk. But the bound grows with the number and rarity of a query's words, and so
 * with the memory: the higher it is, the more a match of words is worth compared with one of meaning.
 */
function deviationWorth<Document>(
  candidates: readonly UnitEvidence<Document>[],
  { bm25Bound, bm25Noise }: QueryEvidence<Document>,
  { turnMeaning, noteMeaning, ambiguity, mostMeaning }: RankWeights,
): { ofTurn: number; ofNote: number } {
  if (candidates.every(({ bm25 }) => bm25 <= 0)) return { ofTurn: mostMeaning, ofNote: mostMeaning }
  return {
    ofTurn: turnMeaning * Math.min(1, Math.sqrt(usualBound / bm25Bound)),
    ofNote: Math.min(mostMeaning, noteMeaning + ambiguity * (bm25Noise / bm25Bound)),
  }
}

/** Turns parts that add up to a strength into shares that add up to a score of 0..1. */
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
 * The spread of some similarities, padded with imaginary ones of unrelated texts: three memories alone give no usable
 * deviation.
 *
 * @param unrelated mean and deviation of the cosine of unrelated texts for the model, where it is known
 */
export function spreadOf(
  { count, sum, squares }: { count: number; sum: number; squares: number },
  unrelated: { mean: number; deviation: number } = { mean: 0, deviation: 0.2 },
): Spread {
  const total = count + imagined
  const mean = (sum + imagined * unrelated.mean) / total
  const square = (squares + imagined * (unrelated.mean ** 2 + unrelated.deviation ** 2)) / total
  return { mean, deviation: Math.sqrt(Math.max(1e-9, square - mean ** 2)) }
}

const imagined = 50
