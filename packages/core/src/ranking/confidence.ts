/**
 * What the best match was compared by: its words alone, or its vector as well, as a turn of a conversation or as a note.
 * Strengths of notes are higher, because their meaning counts for more, and those of words alone lower.
 */
export type Basis = 'words' | 'turn' | 'note'

/**
 * Likelihood, 0..1, that a memory holds the answer to a question, judged by one match: its strength, plus twice its
 * lead over the tenth match. An answer stands out, while a topic that is only mentioned has many similar matches.
 * The confidence of the first match is that of the whole answer.
 *
 * Fitted on the questions of eight data sets of conversations and five of notes, each asked once with its evidence in
 * the memory and once without: of the answers with confidence p, a share of about p have the evidence among their first
 * five. A model fitted on all sets of a kind but one agrees on that one within about 0.1. The figures are in
 * `docs/decisions/0015-confidence.md`.
 *
 * @param score of the match, 0..1, as `rankUnits` gives it
 * @param tenth score of the tenth match; 0 when there are fewer
 * @param basis what the best match was compared by
 */
export function confidenceOf(score: number, tenth: number, basis: Basis): number {
  const strength = strengthOf(score)
  const standing = Math.max(0, strength + 2 * (strength - strengthOf(tenth)))
  const { oddsOfStandingOne, steepness } = fitted[basis]
  const odds = oddsOfStandingOne * standing ** steepness
  return odds / (1 + odds)
}

/** Rank of the match that others are compared with: a search must look at this many to compute a confidence. */
export const confidenceRank = 10

/** The sum of signals behind a score: the inverse of `scoreOf` in `rank-units.ts`. */
const strengthOf = (score: number): number => Math.sqrt(score / Math.max(1e-9, 1 - score))

/** Logistic models on the logarithm of the standing: e to the power of the intercept, and the slope. */
const fitted = {
  words: { oddsOfStandingOne: 0.51, steepness: 1.29 },
  turn: { oddsOfStandingOne: 0.4, steepness: 1.33 },
  note: { oddsOfStandingOne: 0.29, steepness: 1.33 },
}
