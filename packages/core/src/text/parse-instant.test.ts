import { afterEach, describe, expect, it, vi } from 'vitest'
import { dateWords } from '../ranking/date-words.ts'
import { parseInstant } from './parse-instant.ts'

afterEach(() => vi.unstubAllEnvs())

describe.each(['UTC', 'Pacific/Kiritimati', 'America/St_Johns', 'Asia/Kathmandu', 'Europe/Berlin'])(
  'on a machine in %s',
  (timeZone) => {
    it.each([
      ['2026-03-29T02:30:00', '2026-03-29T02:30:00.000Z'],
      ['2026-03-29 02:30:00.123456', '2026-03-29T02:30:00.123Z'],
      ['2026-03-29', '2026-03-29T00:00:00.000Z'],
      ['0099-03-01', '0099-03-01T00:00:00.000Z'],
      ['2026/03/29', '2026-03-29T00:00:00.000Z'],
      ['March 29, 2026 2:30 PM', '2026-03-29T14:30:00.000Z'],
      ['8 May 2023', '2023-05-08T00:00:00.000Z'],
      ['29-Feb-2024 07:05', '2024-02-29T07:05:00.000Z'],
      ['Friday, Sept 4, 2026, 2:21 AM UTC+8', '2026-09-03T18:21:00.000Z'],
      ['Thu Mar  5 10:00:00 2026 +0100', '2026-03-05T09:00:00.000Z'],
      ['2026-3-5', '2026-03-05T00:00:00.000Z'],
      ['2026-03-05 10:00:00.5+00', '2026-03-05T10:00:00.500Z'],
      ['2026-03-05 10:00:00 +0000 UTC', '2026-03-05T10:00:00.000Z'],
      ['2024', '2024-01-01T00:00:00.000Z'],
      ['2026-12', '2026-12-01T00:00:00.000Z'],
      ['2000-02-29', '2000-02-29T00:00:00.000Z'],
      ['2024-02-29T23:59', '2024-02-29T23:59:00.000Z'],
      ['2026-03-29T02:30:00Z', '2026-03-29T02:30:00.000Z'],
      ['2026-03-29T02:30:00+05:45', '2026-03-28T20:45:00.000Z'],
      ['2026-03-29 02:30:00 -0330', '2026-03-29T06:00:00.000Z'],
      ['Thu Mar 05 2026 10:00:00 GMT+0100 (CET)', '2026-03-05T09:00:00.000Z'],
      ['Thu, 05 Mar 2026 10:00:00 EST', '2026-03-05T15:00:00.000Z'],
    ])('%s is %s', (text, instant) => {
      vi.stubEnv('TZ', timeZone)
      expect(new Date(parseInstant(text)).toISOString()).toBe(instant)
    })

    it('the day in words is the same', () => {
      vi.stubEnv('TZ', timeZone)
      expect(dateWords('2026-12-31 23:59')).toBe('31 December 2026')
      expect(dateWords('2027-01-01 00:00')).toBe('1 January 2027')
    })
  },
)

describe('is no number', () => {
  it.each([
    'soon',
    '',
    '5',
    'step 5',
    'turn 12',
    'Marching 5 2026',
    'March 2026',
    '20261210',
    'v2 2026-03-05',
  ])('for what names no day: %s', (text) => expect(parseInstant(text)).toBeNaN())

  it.each(['10.12.2026', '06.03.2026', '06/03/2026', '06-03-26', '8 May 23'])(
    'where the month or the year could be another: %s',
    (text) => expect(parseInstant(text)).toBeNaN(),
  )

  it.each([
    '2026-02-30',
    '2026-02-30 10:00',
    '2026-02-29T10:00:00Z',
    '1900-02-29',
    '31 April 2026',
    'February 30, 2026',
    '2026-13-01',
    '2026-13',
    '2026-00-10',
    '2026-03-00',
    '2026-03-05 25:00',
  ])('for a time that does not exist: %s', (text) => expect(parseInstant(text)).toBeNaN())
})
