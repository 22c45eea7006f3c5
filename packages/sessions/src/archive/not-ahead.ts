import { parseInstant } from '@recall/core/text'

/** Clocks of two machines differ; what is from further ahead was dated by one that is wrong. */
const mostAheadMs = 24 * 60 * 60_000

/**
 * A date, ISO 8601, or now where a wrong clock wrote it: it would be the newest of all until that date has come.
 *
 * @param now milliseconds
 */
export const notAhead = (date: string, now: number): string =>
  parseInstant(date) > now + mostAheadMs ? new Date(now).toISOString() : date
