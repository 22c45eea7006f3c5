import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { RunningHub } from './create-hub.ts'
import { maintainHourly } from './maintain-hourly.ts'

type Maintained = Awaited<ReturnType<RunningHub['maintain']>>

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
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
