import type { Sureness } from './confidence.ts'

/** A match in a ranked list. */
export interface RankedMatch extends Sureness {
  /** What each signal contributed; the shares add up to the score. */
  signals: Record<string, number>
}

/**
 * By how much a search widens each time a page needs more matches. Scores depend on how many candidates are looked at,
 * so the search for every page starts equally wide.
 */
export const depthGrowth = 10

/**
 * Appends to a list of matches, best first, what a search among more candidates found in addition. The list itself does
 * not change, so that all pages of a search are cut from one list.
 */
export function appendCapped<Match extends RankedMatch>(
  list: readonly Match[],
  found: readonly Match[],
  keyOf: (match: Match) => unknown,
): Match[] {
  const last = list.at(-1)
  if (!last) return [...found]
  const known = new Set(list.map(keyOf))
  const more = found.filter((match) => !known.has(keyOf(match)))
  return [...list, ...more.map((match) => cappedBy(last, match))]
}

/** The match, with its score and confidence capped by those of the one before it. */
export function cappedBy<Match extends RankedMatch>({ score, confidence }: RankedMatch, match: Match): Match {
  // A little below, because ties go to the later entry.
  const floor = score * (1 - 1e-6)
  const share = Math.min(1, floor / match.score)
  return {
    ...match,
    ...(share < 1 ? { score: floor, signals: scaledSignals(match.signals, share) } : {}),
    // A search among more candidates may give a higher confidence.
    ...(confidence === undefined || match.confidence === undefined
      ? {}
      : { confidence: Math.min(confidence, match.confidence) }),
  }
}

/** The signals scaled by a share, so that they add up to the reduced score. */
export const scaledSignals = (signals: RankedMatch['signals'], share: number): RankedMatch['signals'] =>
  Object.fromEntries(Object.entries(signals).map(([name, part]) => [name, part * share]))

/**
 * Score and confidence of a passage: no higher than those of the match that it is part of, which may have been capped.
 */
export const withinMatch = (match: Sureness, passage: Sureness): Sureness => ({
  score: Math.min(match.score, passage.score),
  ...(match.confidence === undefined || passage.confidence === undefined
    ? {}
    : { confidence: Math.min(match.confidence, passage.confidence) }),
})
