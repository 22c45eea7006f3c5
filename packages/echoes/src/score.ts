import { dayOf, daysBetween, latestDay } from './day.ts'
import { layerRules } from './layers.ts'
import type { KnownEcho } from './sidecar.ts'

/** An echo's score and what it is made of, each part from 0 to 1. */
export interface EchoScore {
  /** Weight of the layer; counts 0.4. */
  importance: number
  /** Recent workflows that used it, of all recent ones; counts 0.3. */
  relevance: number
  /** 1 on the day it was verified, 0 at the end of the layer's age and after it; counts 0.3. */
  recency: number
  score: number
  /** Etched: the score is 1.0 whatever its parts. */
  locked: boolean
  daysSinceVerified: number
  /** Days since it was verified or used, whichever is later. */
  daysUnreferenced: number
}

/** Echo Score = importance × 0.4 + relevance × 0.3 + recency × 0.3. */
export function scoreEcho(
  echo: Pick<KnownEcho, 'entry' | 'references' | 'workflows' | 'lastReferenced'>,
  now: number,
): EchoScore {
  const { layer, verified } = echo.entry
  const { weight, maxAgeDays } = layerRules[layer]
  const today = dayOf(now)
  const daysSinceVerified = daysBetween(verified, today)
  const relevance = echo.workflows === 0 ? 0 : within(echo.references / echo.workflows)
  const recency = maxAgeDays === null ? 1 : within(1 - daysSinceVerified / maxAgeDays)
  const locked = layer === 'etched'
  return {
    importance: weight,
    relevance,
    recency,
    // Sums of tenths are not exact: 0.28 + 0.02 must not lie below 0.3.
    score: locked ? 1 : Math.round((weight * 0.4 + relevance * 0.3 + recency * 0.3) * 1e9) / 1e9,
    locked,
    daysSinceVerified,
    daysUnreferenced: daysBetween(latestDay(verified, echo.lastReferenced), today),
  }
}

const within = (part: number): number => Math.min(1, Math.max(0, part))
