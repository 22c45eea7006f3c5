import type { Sureness } from './confidence.ts'

/** What stands in a list of matches. */
export interface RankedMatch extends Sureness {
  /** What each signal contributed; the shares add up to the score. */
  signals: Record<string, number>
}

/**
 * How many times as many matches to look for as before, as long as a page needs more. Scores depend on how many
 * candidates are looked at, so every page begins with the same look.
 */
export const depthGrowth = 10

/**
 * A list of matches, best first, and below it what a look at more candidates found besides. What the list has stays as
 * it is, so that all pages of a search are cut from one list.
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

/** A match with a score, and a confidence, no higher than those of one before it. */
export function cappedBy<Match extends RankedMatch>({ score, confidence }: RankedMatch, match: Match): Match {
  // A little below, because ties go to the later entry.
  const floor = score * (1 - 1e-6)
  const share = Math.min(1, floor / match.score)
  return {
    ...match,
    ...(share < 1 ? { score: floor, signals: scaledSignals(match.signals, share) } : {}),
    // Another look at more candidates may be surer of what it finds.
    ...(confidence === undefined || match.confidence === undefined
      ? {}
      : { confidence: Math.min(confidence, match.confidence) }),
  }
}

/** The signals of a score of which a share is left: they add up to that. */
export const scaledSignals = (signals: RankedMatch['signals'], share: number): RankedMatch['signals'] =>
  Object.fromEntries(Object.entries(signals).map(([name, part]) => [name, part * share]))

/** How a passage was found: no better and no surer than the match that it is a part of, which may have been capped. */
export const withinMatch = (match: Sureness, passage: Sureness): Sureness => ({
  score: Math.min(match.score, passage.score),
  ...(match.confidence === undefined || passage.confidence === undefined
    ? {}
    : { confidence: Math.min(match.confidence, passage.confidence) }),
})
