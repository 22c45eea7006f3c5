import type { RunningHub } from './create-hub.ts'
import { type Log, loggedError } from './log.ts'

/** What a hub does without being asked, until it is stopped. */
interface BackgroundWork {
  /** Resolves when the run under way has ended; it is told to end early. */
  stop(): Promise<void>
}

/** Milliseconds before an empty queue is checked again. */
const queueMs = 500

const longestQueueMs = 30_000

/** Embeds queued memories. After a failure it waits twice as long as after the one before. */
export function workOnQueue(hub: Pick<RunningHub, 'embedWaiting'>, log: Log): BackgroundWork {
  let failures = 0
  return repeatedly(0, async (stop) => {
    try {
      const embedded = await hub.embedWaiting(stop)
      failures = 0
      return embedded > 0 ? 0 : queueMs
    } catch (error) {
      log({ level: 'error', event: 'queue failed', ...loggedError(error) })
      return Math.min(queueMs * 2 ** failures++, longestQueueMs)
    }
  })
}

/** Milliseconds before the first maintenance: a starting hub has enough to do. */
const firstMs = 60 * 1000
const hourMs = 60 * 60 * 1000

/** Maintains a hub whose database no other process can open. */
export const maintainHourly = (hub: Pick<RunningHub, 'maintain'>, log: Log): BackgroundWork =>
  repeatedly(firstMs, async (stop) => {
    try {
      await hub.maintain(stop)
    } catch (error) {
      log({ level: 'error', event: 'maintenance failed', ...loggedError(error) })
    }
    return hourMs
  })

/** @param run never rejects; returns after how many milliseconds to run again */
function repeatedly(firstDelay: number, run: (stop: AbortSignal) => Promise<number>): BackgroundWork {
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let turn = Promise.resolve()
  const next = (delay: number): void => {
    if (stopping.signal.aborted) return
    timer = setTimeout(() => {
      turn = run(stopping.signal).then(next)
    }, delay)
  }
  next(firstDelay)
  return {
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await turn
    },
  }
}
