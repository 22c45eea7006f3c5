import { getEventListeners } from 'node:events'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { withinTimeLimit } from './within-time-limit.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
})

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })

it('hands on what the call gives or throws, and leaves no timer and nothing on the signal behind', async () => {
  const { signal } = new AbortController()
  const limit = { timeoutMs: 1000, signal }
  const call = async () => getEventListeners(signal, 'abort').length
  expect(await withinTimeLimit(limit, call)).toBe(1)
  const failure = new Error('no answer')
  await expect(withinTimeLimit(limit, () => Promise.reject(failure))).rejects.toBe(failure)
  const refuse = (): never => {
    throw failure
  }
  await expect(withinTimeLimit(limit, refuse)).rejects.toBe(failure)
  expect(getEventListeners(signal, 'abort')).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

it('ends the call for the reason of its caller, also of one who has given up already', async () => {
  const caller = new AbortController()
  const limit = { timeoutMs: Number.POSITIVE_INFINITY, signal: caller.signal }
  const waiting = withinTimeLimit(limit, untilAborted)
  const reason = new Error('no longer wanted')
  caller.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  await expect(withinTimeLimit(limit, async (signal) => signal.throwIfAborted())).rejects.toBe(reason)
  expect(vi.getTimerCount()).toBe(0)
})

it.each([
  [999.5, 1000],
  [Number.POSITIVE_INFINITY, 2 ** 31 - 1],
])('ends a call of at most %d ms after %d', async (timeoutMs, ms) => {
  let late: unknown
  const waiting = withinTimeLimit({ timeoutMs }, untilAborted).catch((error: unknown) => {
    late = error
  })
  await vi.advanceTimersByTimeAsync(ms - 1)
  expect(late).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  await waiting
  expect(late).toMatchObject({ name: 'TimeoutError' })
})
