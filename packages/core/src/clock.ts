/** The time in milliseconds since the epoch. Injected everywhere, so that no test has to sleep. */
export type Clock = () => number

export const systemClock: Clock = () => Date.now()
