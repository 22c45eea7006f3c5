export const monthNames =
  'January February March April May June July August September October November December'.split(' ')

/**
 * A time as people name it in a question, `8 May 2023`, so that words find what was said then.
 *
 * @param at ISO 8601 or milliseconds; its day is the one of UTC
 */
export function dateWords(at: string | number): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return ''
  return `${date.getUTCDate()} ${monthNames[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}
