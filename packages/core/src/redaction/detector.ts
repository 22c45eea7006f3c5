import type { Evidence } from './assignments.ts'

export interface Detector {
  kind: string
  /** The pattern is tried only on texts with one of these, lower case if it ignores case. Empty: on every text. */
  gate: readonly string[]
  /**
   * Runs in linear time: no quantifier inside a quantifier, no long run before the distinctive part, or the run is
   * matched without it, so that it is scanned once. Every run is bounded, because each of its characters takes room on
   * the pattern's stack, which a text of eight megabytes would overflow; no secret is longer than 64 KiB. The group
   * `secret` is replaced, or without it the whole match.
   */
  pattern: RegExp
  /** Judges the value that follows the match: that value is then the secret, not the match. */
  follows?: (value: string, evidence: Evidence) => boolean
  /** Makes the final decision on a find; `before` is the text that leads up to the match. */
  accept?: (secret: string, before: string) => boolean
}
