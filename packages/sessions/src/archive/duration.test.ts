import { expect, it } from 'vitest'
import { createTimeSpan, formatDuration, parseDuration } from './duration.ts'

it.each([
  [0, '0s'],
  [45_400, '45s'],
  [30 * 60_000, '30m'],
  [59 * 60_000 + 59_000, '59m'],
  [60 * 60_000, '1h'],
  [65 * 60_000, '1h 5m'],
  [26 * 3_600_000, '26h'],
  [48 * 3_600_000, '2d'],
  [(92 * 24 + 5) * 3_600_000 + 59 * 60_000, '92d 5h'],
])('writes %s milliseconds as %s', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text)
  expect(formatDuration(parseDuration(text) ?? -1)).toBe(text)
})

it('writes none where a clock went back', () => {
  expect(formatDuration(-5000)).toBe('0s')
})

it('reads no duration from other texts', () => {
  expect(['', 'unknown', '5 apples'].map(parseDuration)).toEqual([null, null, null])
  // As it was written before days were.
  expect(parseDuration('2208h 5m')).toBe((2208 * 60 + 5) * 60_000)
})

it('spans from the earliest to the latest time, passing over messages without one', () => {
  const span = createTimeSpan()
  expect([span.end(), span.duration()]).toEqual([undefined, 'unknown'])
  for (const at of [
    '2026-01-01T00:10:00Z',
    '2026-01-01T00:00:00Z',
    undefined,
    'soon',
    '2026-01-01T00:05:00+00:00',
  ]) {
    span.add(at)
  }
  expect([span.end(), span.duration()]).toEqual(['2026-01-01T00:05:00.000Z', '10m'])
})

it('does not know how long several messages took that all have the same time', () => {
  const span = createTimeSpan()
  span.add('2026-01-01T00:00:00Z')
  expect(span.duration()).toBe('0s')
  span.add('2026-01-01T00:00:00Z')
  expect([span.end(), span.duration()]).toEqual(['2026-01-01T00:00:00.000Z', 'unknown'])
  span.add('2026-01-01T00:01:00Z')
  expect(span.duration()).toBe('1m')
})
