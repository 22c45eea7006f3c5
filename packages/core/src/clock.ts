/** The time in milliseconds since the epoch. Injected everywhere, so that no test has to sleep. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/** Longest delay of a timer in milliseconds, about 24 days: a longer one would fire at once. */
export const longestTimerMs = 2 ** 31 - 1

/** A clock in whole milliseconds: some stores cannot keep fractions. */
export const inMilliseconds =
  (clock: Clock): Clock =>
  () =>
    Math.floor(clock())
