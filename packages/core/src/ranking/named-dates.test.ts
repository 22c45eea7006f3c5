import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dateWords } from './date-words.ts'
import { namedDates } from './named-dates.ts'

/** A Saturday. */
const now = Date.UTC(2026, 10, 21, 18)

describe('namedDates', () => {
  it.each([
    ['what did we decide today?', '21 November 2026'],
    ['What broke yesterday', '20 November 2026'],
    ['what broke three days ago', '18 November 2026'],
    ['what broke 30 days ago', '22 October 2026'],
    ['who called on Monday', '16 November 2026'],
    ['who called last Saturday', '14 November 2026'],
    ['the release of last week', 'November 2026'],
    ['the release five weeks ago', 'October 2026'],
    ['this month', 'November 2026'],
    ['last month', 'October 2026'],
    ['what changed this year', '2026'],
    ['12 months ago', 'November 2025'],
    ['where were we last May', 'May 2026'],
    ['where were we last December', 'December 2025'],
    ['where were we last November', 'November 2025'],
    ['the budget of last year and of two years ago', '2025 2024'],
    ['what happened on 2023-05-08', '8 May 2023'],
    ['what happened in 2023-05', 'May 2023'],
    ['on 2023/05/08 or on 2024-5-3', '8 May 2023 3 May 2024'],
    ['what broke the day before yesterday', '19 November 2026'],
    ['and the night before last', '19 November 2026'],
    ['a year ago today', '2025'],
    ['twelve days ago', '9 November 2026'],
    ['between 3 Sep and Sept 5, 2023', 'September'],
  ])('%s', (question, words) => {
    expect(namedDates(question, now)).toBe(words)
  })

  it.each([
    'what happened in March 2023',
    'on 8 May 2023',
    'the last thing she said',
    'marching on',
    'error 2023-99-99',
    'the thirtieth of February, 2023-02-30',
    'v2023-05/08',
    '',
  ])('nothing in: %s', (question) => {
    expect(namedDates(question, now)).toBe('')
  })

  it('goes back over the ends of months and years as calendars do', () => {
    expect(namedDates('last month', Date.UTC(2026, 2, 31))).toBe('February 2026')
    expect(namedDates('last week', Date.UTC(2026, 2, 3))).toBe('February 2026')
    expect(namedDates('yesterday', Date.UTC(2026, 0, 1))).toBe('31 December 2025')
  })

  it('names a weekday of the seven days before', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4e12 }),
        fc.constantFrom('Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'),
        (at, name) => {
          const before = [1, 2, 3, 4, 5, 6, 7].map((days) => at - days * 24 * 60 * 60 * 1000)
          const named = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' })
          const expected = before.find((time) => named.format(time) === name) as number
          expect(namedDates(`on ${name}`, at)).toBe(dateWords(expected))
        },
      ),
    )
  })
})
