import { monthNames } from '../text/months.ts'
import { dateWords } from './date-words.ts'

const day = 24 * 60 * 60 * 1000

/**
 * Spells out the dates that an English question names relative to today, in digits or abbreviated, the way memories
 * write them: `yesterday` is `20 November 2026`, `last May` is `May 2026`, `2023-05-08` is `8 May 2023`. Days are
 * those of UTC.
 *
 * @param now milliseconds
 */
export function datesNamedIn(question: string, now: number): string[] {
  const text = question.toLowerCase()
  if (!hint.test(text)) return []
  const found = readings.flatMap(([pattern, read]) =>
    [...text.matchAll(pattern)].flatMap((match) => read(match, new Date(now)) || []),
  )
  return [...new Set(found)]
}

/** The same as words to add to a query; '' when the question names no such date. */
export const namedDates = (question: string, now: number): string => datesNamedIn(question, now).join(' ')

/** Every reading needs one of these. Most questions hold none, and compiling the readings takes over a millisecond. */
const hint = /\b(?:\d|(?:today|tonight|this|yesterday|last|ago|on)\b)/

const months = monthNames.map((name) => name.toLowerCase())
const weekdays = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ')
const numbers = 'a one two three four five six seven eight nine ten eleven twelve'.split(' ')

const monthWords = (date: Date): string => dateWords(date.getTime()).replace(/^\d+ /, '')
const yearWords = (date: Date): string => String(date.getUTCFullYear())
const daysBefore = (now: Date, days: number): string => dateWords(now.getTime() - days * day)

/** The first day of the month that is `count` months back. */
const monthsBefore = (now: Date, count: number): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count))

const counted = (text = ''): number => (/^\d/.test(text) ? Number(text) : Math.max(1, numbers.indexOf(text)))

const count = `(\\d{1,3}|an|${numbers.join('|')})`
const short = months
  .filter((name) => name.length > 3)
  .map((name) => name.slice(0, 3))
  .join('|')

/** The date in words; '' for a day that the month does not have. */
function dayWords(...[year, month, date]: (string | undefined)[]): string {
  const day = new Date(Date.UTC(Number(year), Number(month) - 1, Number(date)))
  return day.getUTCDate() === Number(date) ? dateWords(day.getTime()) : ''
}

/** Patterns, each with the words that its matches stand for. */
const readings: [RegExp, (match: RegExpMatchArray, now: Date) => string][] = [
  // The lookbehinds exclude `a year ago today` and `the day before yesterday`, which name other days.
  [/\b(?<!\bago )(?:today|tonight|this (?:morning|afternoon|evening))\b/g, (_, now) => daysBefore(now, 0)],
  [/\b(?<!\b(?:ago|days? before) )(?:yesterday|last night)\b/g, (_, now) => daysBefore(now, 1)],
  [/\b(?:day before yesterday|night before last)\b/g, (_, now) => daysBefore(now, 2)],
  [new RegExp(`\\b${count} days? ago\\b`, 'g'), ([, n], now) => daysBefore(now, counted(n))],
  [
    new RegExp(`\\b(?:last|on|this) (${weekdays.join('|')})\\b`, 'g'),
    ([, name = ''], now) => daysBefore(now, ((now.getUTCDay() + 6 - weekdays.indexOf(name)) % 7) + 1),
  ],
  [/\blast week\b/g, (_, now) => monthWords(new Date(now.getTime() - 7 * day))],
  [
    new RegExp(`\\b${count} weeks? ago\\b`, 'g'),
    ([, n], now) => monthWords(new Date(now.getTime() - 7 * day * counted(n))),
  ],
  [/\bthis month\b/g, (_, now) => monthWords(now)],
  [/\blast month\b/g, (_, now) => monthWords(monthsBefore(now, 1))],
  [new RegExp(`\\b${count} months? ago\\b`, 'g'), ([, n], now) => monthWords(monthsBefore(now, counted(n)))],
  [
    new RegExp(`\\blast (${months.join('|')})\\b(?! \\d{4})`, 'g'),
    ([, name = ''], now) =>
      monthWords(monthsBefore(now, ((now.getUTCMonth() + 11 - months.indexOf(name)) % 12) + 1)),
  ],
  [/\bthis year\b/g, (_, now) => yearWords(now)],
  [/\blast year\b/g, (_, now) => String(now.getUTCFullYear() - 1)],
  [new RegExp(`\\b${count} years? ago\\b`, 'g'), ([, n], now) => String(now.getUTCFullYear() - counted(n))],
  [/\b(\d{4})([-/])(\d{1,2})\2(\d{1,2})\b/g, ([, year, , month, date]) => dayWords(year, month, date)],
  [/\b(\d{4}-\d\d)\b(?!-)/g, ([, month = '']) => dateWords(`${month}-01`).replace(/^\d+ /, '')],
  // An abbreviated month counts only next to a number: `mar` and `dec` mean other things as well.
  [
    new RegExp(`\\b(?:\\d{1,2}(?:st|nd|rd|th)? (${short})|(${short}|sept)\\.? \\d{1,4})\\b`, 'g'),
    ([, before, behind]) =>
      monthNames[months.findIndex((name) => name.startsWith(before ?? behind ?? ''))] ?? '',
  ],
]
