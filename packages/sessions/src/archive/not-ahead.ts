import { parseInstant } from '@recall/core/text'

/** Clocks of two machines differ; a date further ahead comes from a wrong clock. */
const mostAheadMs = 24 * 60 * 60_000

/**
 * A date, ISO 8601, or now if a wrong clock wrote it: it would otherwise be the newest until that date has come.
 *
 * @param now milliseconds
 */
export const notAhead = (date: string, now: number): string =>
  parseInstant(date) > now + mostAheadMs ? new Date(now).toISOString() : date
