import { afterEach, expect, it, vi } from 'vitest'
import { toInstant } from './instants.ts'

afterEach(() => vi.unstubAllEnvs())

it.each(['UTC', 'Europe/Berlin', 'Pacific/Kiritimati'])('a time has one meaning, also in %s', (timeZone) => {
  vi.stubEnv('TZ', timeZone)
  const instant = '2026-03-29T02:30:00.000Z'
  for (const value of ['2026-03-29 02:30:00', '2026-03-29T04:30:00+02:00', 1774751400, 1774751400000]) {
    expect(toInstant(value)).toBe(instant)
  }
})
