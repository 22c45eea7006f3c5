import { dayOf, daysBetween, laterDay } from '../documents/day.ts'
import { layerRules } from '../documents/layers.ts'
import type { KnownEcho } from '../documents/sidecar.ts'

/** An echo's score and its parts, each from 0 to 1. */
export interface EchoScore {
  /** Weight of the layer; counts 0.4. */
  importance: number
  /** Share of the recent workflows that used it; counts 0.3. */
  relevance: number
  /** 1 on the day it was verified, falling to 0 at the layer's maximum age; counts 0.3. */
  recency: number
  score: number
  /** True for etched entries: their score is 1.0 whatever its parts. */
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
  const relevance = echo.workflows === 0 ? 0 : clamped(echo.references / echo.workflows)
  const recency = clamped(1 - daysSinceVerified / maxAgeDays)
  const locked = layer === 'etched'
  return {
    importance: weight,
    relevance,
    recency,
    // Rounded, because sums of tenths are not exact: 0.28 + 0.02 must not be below 0.3.
    score: locked ? 1 : Math.round((weight * 0.4 + relevance * 0.3 + recency * 0.3) * 1e9) / 1e9,
    locked,
    daysSinceVerified,
    daysUnreferenced: daysBetween(laterDay(verified, echo.lastReferenced), today),
  }
}

const clamped = (part: number): number => Math.min(1, Math.max(0, part))
