/** The time in milliseconds since the epoch. Injected everywhere, so that no test has to sleep. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()

/** Longest delay of a timer, milliseconds, some 24 days: a longer one would end at once. */
export const longestTimerMs = 2 ** 31 - 1

/** A clock that leaves out what is less than a millisecond: of the stores, some could not keep it. */
export const inMilliseconds =
  (clock: Clock): Clock =>
  () =>
    Math.floor(clock())
