import type { RunningHub } from './create-hub.ts'
import { type Log, loggedError } from './log.ts'

/** Pause before an empty queue is checked again, in milliseconds. */
const queueMs = 500

/** Embeds queued memories until it is stopped. */
export function workOnQueue(hub: Pick<RunningHub, 'embedWaiting'>, log: Log): { stop(): Promise<void> } {
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let turn = Promise.resolve()
  const next = (delay: number): void => {
    timer = setTimeout(() => {
      turn = hub.embedWaiting(stopping.signal).then(
        (done) => next(done > 0 ? 0 : queueMs),
        (error: unknown) => {
          log({ level: 'error', event: 'queue failed', ...loggedError(error) })
          next(queueMs)
        },
      )
    }, delay)
    if (stopping.signal.aborted) clearTimeout(timer)
  }
  next(0)
  return {
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await turn
    },
  }
}
