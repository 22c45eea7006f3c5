/** What the best match is, and whether its vector took part. Strengths by words alone are lower. */
export interface Basis {
  kind: 'turn' | 'note'
  by: 'words' | 'meaning'
}

/**
 * Likelihood, 0..1, that a memory holds the answer to a question, judged by one match: its strength, plus twice its
 * lead over the tenth match. An answer stands out, while a topic that is only mentioned has many similar matches. The
 * confidence of the first match is that of the whole answer.
 *
 * Fitted on the questions of eight data sets of conversations, each asked once with its evidence in the memory and once
 * without: of the answers with confidence p, a share of about p have the evidence among their first five. A model
 * fitted on all but one of them agrees on that one within about 0.1. For notes, it is too low for prose and too high
 * for code. The figures are in `docs/decisions/0015-confidence.md`.
 *
 * @param score of the match, 0..1, as `rankUnits` gives it
 * @param tenth score of the tenth match; 0 when there are fewer
 * @param basis of the best match
 */
export function confidenceOf(score: number, tenth: number, { kind, by }: Basis): number {
  const strength = strengthOf(score)
  const standing = Math.max(0, strength + 2 * (strength - strengthOf(tenth)))
  const { oddsOfStandingOne, steepness } = fitted[kind][by]
  const odds = oddsOfStandingOne * standing ** steepness
  return odds / (1 + odds)
}

/** Rank of the match that others are compared with: a search must look at this many to compute a confidence. */
export const confidenceRank = 10

/**
 * Orders what several searches found for the same question, for example in several scopes, best first. A score only
 * ranks a match within its own search: turns of a conversation gain from the turns around them, notes have nothing
 * around them. A confidence means the same for both.
 */
export const surestFirst = (a: Sureness, b: Sureness): number =>
  (b.confidence ?? 0) - (a.confidence ?? 0) || b.score - a.score

/** Score and confidence of a match or a passage. Without a text query there is no confidence. */
export interface Sureness {
  score: number
  confidence?: number | undefined
}

/** The sum of signals behind a score: the inverse of `scoreOf` in `rank-units.ts`. */
const strengthOf = (score: number): number => Math.sqrt(score / Math.max(1e-9, 1 - score))

/** Logistic models on the logarithm of the standing: e to the power of the intercept, and the slope. */
const fitted = {
  turn: {
    words: { oddsOfStandingOne: 0.51, steepness: 1.29 },
    meaning: { oddsOfStandingOne: 0.4, steepness: 1.33 },
  },
  note: {
    words: { oddsOfStandingOne: 0.85, steepness: 1.29 },
    meaning: { oddsOfStandingOne: 0.5, steepness: 1.33 },
  },
}
