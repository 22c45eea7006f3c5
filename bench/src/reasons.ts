import type { Row } from './report.ts'

interface Reason {
  suite: string
  what: RegExp
  why: string
}

/** Why a bound does not hold, where it was looked into. The first that fits a row is taken. */
const reasons: readonly Reason[] = []

/** Undefined where nobody has looked yet. */
export const reasonFor = (suite: string, { what }: Row): string | undefined =>
  reasons.find((reason) => reason.suite === suite && reason.what.test(what))?.why
