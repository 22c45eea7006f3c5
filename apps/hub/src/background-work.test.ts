import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { maintainHourly, workOnQueue } from './background-work.ts'
import type { RunningHub } from './create-hub.ts'

type Maintained = Awaited<ReturnType<RunningHub['maintain']>>

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('goes on at once while there is something to do, and else after half a second, also after a failure', async () => {
  const events: unknown[] = []
  const embedWaiting = vi
    .fn<() => Promise<number>>()
    .mockResolvedValue(0)
    .mockResolvedValueOnce(16)
    .mockResolvedValueOnce(1)
    .mockResolvedValueOnce(0)
    .mockRejectedValueOnce(new Error('down'))
  const queue = workOnQueue({ embedWaiting }, ({ event }) => events.push(event))
  const calls: number[] = []
  for (const passed of [10, 480, 20, 480, 20, 480, 20]) {
    await vi.advanceTimersByTimeAsync(passed)
    calls.push(embedWaiting.mock.calls.length)
  }
  expect(calls).toEqual([3, 3, 4, 4, 5, 5, 6])
  expect(events).toEqual(['queue failed'])
  await queue.stop()
  await vi.advanceTimersByTimeAsync(5000)
  expect(embedWaiting).toHaveBeenCalledTimes(6)
})

it('waits twice as long after each further failure, and as ever once it works again', async () => {
  const failed: number[] = []
  const embedWaiting = vi.fn<() => Promise<number>>().mockRejectedValue(new Error('down'))
  const started = Date.now()
  const queue = workOnQueue({ embedWaiting }, () => failed.push(Date.now() - started))
  await vi.advanceTimersByTimeAsync(100_000)
  expect(failed).toEqual([0, 500, 1500, 3500, 7500, 15_500, 31_500, 61_500, 91_500])
  embedWaiting.mockResolvedValue(0)
  await vi.advanceTimersByTimeAsync(30_000)
  embedWaiting.mockRejectedValue(new Error('down'))
  failed.length = 0
  await vi.advanceTimersByTimeAsync(1000)
  expect(failed).toHaveLength(2)
  await queue.stop()
})

it('ends with the memory that it is at', async () => {
  let finish = (_: number): void => {}
  const embedWaiting = vi.fn(
    (_: AbortSignal | undefined) =>
      new Promise<number>((resolve) => {
        finish = resolve
      }),
  )
  const queue = workOnQueue({ embedWaiting }, () => {})
  await vi.advanceTimersByTimeAsync(0)
  let isStopped = false
  const stopped = queue.stop().then(() => {
    isStopped = true
  })
  await vi.advanceTimersByTimeAsync(5000)
  expect([embedWaiting.mock.calls[0]?.[0]?.aborted, isStopped]).toEqual([true, false])
  finish(1)
  await stopped
  await vi.advanceTimersByTimeAsync(5000)
  expect(embedWaiting).toHaveBeenCalledTimes(1)
})

it('maintains after a minute and then once an hour, also after a failure, until it is stopped', async () => {
  const events: unknown[] = []
  const maintain = vi
    .fn<RunningHub['maintain']>()
    .mockResolvedValue({} as Maintained)
    .mockRejectedValueOnce(new Error('down'))
  const hourly = maintainHourly({ maintain }, ({ event }) => events.push(event))
  const calls: number[] = []
  for (const minutes of [0.9, 0.2, 59, 1, 60]) {
    await vi.advanceTimersByTimeAsync(minutes * 60_000)
    calls.push(maintain.mock.calls.length)
  }
  expect(calls).toEqual([0, 1, 1, 2, 3])
  expect(events).toEqual(['maintenance failed'])
  await hourly.stop()
  await vi.advanceTimersByTimeAsync(3 * 60 * 60_000)
  expect(maintain).toHaveBeenCalledTimes(3)
})

it('stops with the maintenance that is under way, which is told to', async () => {
  let finish = (_: Maintained): void => {}
  const maintain = vi.fn<RunningHub['maintain']>(
    () =>
      new Promise((resolve) => {
        finish = resolve
      }),
  )
  const hourly = maintainHourly({ maintain }, () => {})
  await vi.advanceTimersByTimeAsync(60_000)
  let isStopped = false
  const stopped = hourly.stop().then(() => {
    isStopped = true
  })
  await vi.advanceTimersByTimeAsync(5000)
  expect([maintain.mock.calls[0]?.[0]?.aborted, isStopped]).toEqual([true, false])
  finish({} as Maintained)
  await stopped
  await vi.advanceTimersByTimeAsync(3 * 60 * 60_000)
  expect(maintain).toHaveBeenCalledTimes(1)
})
