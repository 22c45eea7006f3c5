import type { RunningHub } from './create-hub.ts'
import { type Log, loggedError } from './log.ts'

/** Milliseconds before the first maintenance: a starting hub has enough to do. */
const firstMs = 60 * 1000
const hourMs = 60 * 60 * 1000

/** Maintains a hub whose database no other process can open, until it is stopped. */
export function maintainHourly(hub: Pick<RunningHub, 'maintain'>, log: Log): { stop(): Promise<void> } {
  const stopping = new AbortController()
  let turn = Promise.resolve()
  let timer: NodeJS.Timeout
  const next = (delay: number): void => {
    timer = setTimeout(() => {
      turn = hub
        .maintain(stopping.signal)
        .then(
          () => undefined,
          (error: unknown) => log({ level: 'error', event: 'maintenance failed', ...loggedError(error) }),
        )
        .then(() => next(hourMs))
    }, delay)
    if (stopping.signal.aborted) clearTimeout(timer)
  }
  next(firstMs)
  return {
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await turn
    },
  }
}
