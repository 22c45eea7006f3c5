import { monthNames } from '../text/months.ts'
import { parseInstant } from '../text/parse-instant.ts'

/**
 * A date as people name it in a question, `8 May 2023`, so that its words find what was said then.
 *
 * @param at ISO 8601 or milliseconds; the day is the one in UTC
 * @returns '' when `at` is not a date
 */
export function dateWords(at: string | number): string {
  const date = new Date(typeof at === 'string' ? parseInstant(at) : at)
  if (Number.isNaN(date.getTime())) return ''
  return `${date.getUTCDate()} ${monthNames[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}
