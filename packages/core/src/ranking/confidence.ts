/**
 * How likely it is, 0..1, that a memory knows what was asked, judged by one match: by its strength, and twice by
 * how far it leads the tenth. What is asked and answered stands out; what is only talked about has many alike. The
 * first match speaks for the whole answer.
 *
 * Fitted on the questions of four data sets, each asked once with its evidence in the memory and once without:
 * of answers with a confidence of p, about p have the evidence among their first five. A model fitted on three of
 * the sets says the same of the fourth within about 0.1. The figures are in `docs/decisions/0015-confidence.md`.
 *
 * @param score of the match, 0..1, as `rankUnits` gives it
 * @param tenth score of the tenth match; 0 when there are fewer
 */
export function confidenceOf(score: number, tenth: number): number {
  const strength = strengthOf(score)
  const standing = Math.max(0, strength + 2 * (strength - strengthOf(tenth)))
  const odds = oddsOfStandingOne * standing ** steepness
  return odds / (1 + odds)
}

/** The match that the first is compared to: a search that looks at fewer cannot say how sure it is. */
export const confidenceRank = 10

/** The sum of signals that a score was made from. */
const strengthOf = (score: number): number => Math.sqrt(score / Math.max(1e-9, 1 - score))

/** Of a logistic model on the logarithm of the standing: the intercept's power of e, and the slope. */
const oddsOfStandingOne = 0.223
const steepness = 1.22
