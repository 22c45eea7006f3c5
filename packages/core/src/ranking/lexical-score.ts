/** What is known of one candidate before it is scored. */
export interface LexicalEvidence {
  /** BM25 of the query in the candidate; larger is better. */
  bm25: number
  /** Distinct words in the query. */
  queryTerms: number
  /** Distinct words of the query that the candidate contains. */
  matchedTerms: number
  /** Milliseconds since the candidate was last written; negative ages count as zero. */
  ageMs: number
}

/** How much each signal can contribute; they add up to 1. Recency only breaks near-ties. */
export const lexicalWeights = { match: 0.6, coverage: 0.35, recency: 0.05 } as const

/** After this long, recency counts half. */
export const recencyHalfLifeMs = 30 * 24 * 60 * 60 * 1000

/**
 * Scores a lexical match in 0..1 from three signals, each in 0..1 before weighting:
 *
 * - match: how often and how tellingly the words occur, `bm25 / (bm25 + 2 · words)`, which keeps BM25's order
 * - coverage: the share of the query's words that occur at all
 * - recency: `2 ^ (-age / 30 days)`
 */
export function lexicalScore(evidence: LexicalEvidence): { score: number; signals: Record<string, number> } {
  const { bm25, queryTerms, matchedTerms, ageMs } = evidence
  const strength = Math.max(0, bm25)
  const signals = {
    match: lexicalWeights.match * (strength / (strength + 2 * queryTerms || 1)),
    coverage: lexicalWeights.coverage * Math.min(1, matchedTerms / Math.max(1, queryTerms)),
    recency: lexicalWeights.recency * 2 ** (-Math.max(0, ageMs) / recencyHalfLifeMs),
  }
  return { score: signals.match + signals.coverage + signals.recency, signals }
}
