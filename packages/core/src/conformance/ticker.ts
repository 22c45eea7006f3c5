import type { Clock } from '../clock.ts'

export interface Ticker {
  readonly clock: Clock
  /** Lets time pass. */
  advance(milliseconds: number): void
}

/** A clock that stands still until it is told to move, so that no law has to sleep. */
export function createTicker(start = Date.UTC(2026, 0, 1)): Ticker {
  let now = start
  return {
    clock: () => now,
    advance(milliseconds) {
      now += milliseconds
    },
  }
}
