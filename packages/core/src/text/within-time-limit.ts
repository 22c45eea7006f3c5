import { longestTimerMs } from '../clock.ts'

/**
 * Runs a call with a signal that is aborted for the caller's reason when the caller gives up, and with a `TimeoutError`
 * when the time is over. Nothing is left behind on the caller's signal: `AbortSignal.any` would leave a reference for
 * each call on a signal that may live as long as the process. With `Infinity` a call may take as long as a timer can run.
 */
export async function withinTimeLimit<T>(
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined },
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const giveUp = (): void => controller.abort(signal?.reason)
  const endLate = (): void =>
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  const timer = setTimeout(endLate, Math.min(Math.ceil(timeoutMs), longestTimerMs))
  if (signal?.aborted) giveUp()
  else signal?.addEventListener('abort', giveUp, { once: true })
  try {
    return await call(controller.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
  }
}
