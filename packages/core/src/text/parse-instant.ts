import { monthNames } from './months.ts'

/**
 * Milliseconds since the epoch of a time in a text: a day in ISO 8601, or with the name of its month, alone or with a
 * time; for a month or year in ISO 8601, its beginning. A time without a zone is UTC: as local time, the same file
 * would mean something else on every machine, and nothing at all in the hour that summer time skips.
 *
 * @returns `NaN` when the text is not a time, its day does not exist, or numbers alone leave open which is the month
 */
export function parseInstant(text: string): number {
  const common = parseCommon(text)
  if (common !== undefined) return common
  // `Date.parse` accepts nearly anything with a number: `step 5` as a day in May 2001, 30 February as one in March.
  if (!isTime(text)) return Number.NaN
  const time = Date.parse(text)
  if (Number.isNaN(time) || zoned.test(text)) return time
  // ISO 8601 has the zone right after the time; other forms may have a word such as `PM` there.
  const inUtc = ['Z', ' UTC'].map((ending) => Date.parse(`${text}${ending}`))
  return inUtc.find((each) => !Number.isNaN(each)) ?? time
}

/** The form in our own files. */
const commonForm = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d{1,3})?Z)?$/

/** A day or a time in UTC. Most times are, and compiling all forms takes a tenth of the time of a short command. */
function parseCommon(text: string): number | undefined {
  if (!commonForm.test(text)) return undefined
  const time = Date.parse(text)
  const exists = new Date(time).getUTCDate() === Number(text.slice(8, 10))
  return exists ? time : undefined
}

const month = `(?<month>${monthNames.map((name) => `${name}|${name.slice(0, 3)}`).join('|')}|sept)`
const clock = String.raw`\d\d?:\d\d(?::\d\d(?:\.\d+)?)?(?: ?[ap]m)?`
const distance = String.raw`[+-]\d\d?(?::?\d\d)?`
const zone = String.raw` ?(?:z|(?:utc?|gmt|[ecmp][sd]t)? ?(?:${distance})?(?: \([^()]*\)| utc)?)`
const date = String.raw`(?<date>\d\d?)`
const year = String.raw`(?<year>\d{4})`
const weekday = '(?:(?:mon|tue|tues|wed|wednes|thu|thurs|fri|sat|satur|sun)(?:day)?,? +)?'
const rest = `(?:,? +${clock}${zone})?`

/** A year or its month; year, month, day; day, month, year; month, day, year, with the time inside as C writes it. */
const forms = [
  String.raw`(?<year>[+-]\d{6}|\d{4})(?:-(?<month>\d\d))?`,
  String.raw`(?<year>[+-]\d{6}|\d{4})(?<gap>[-/])(?<month>\d\d?)\k<gap>${date}(?:(?:t|,? +)${clock}${zone})?`,
  `${weekday}${date}[ -]${month},?[ -]${year}${rest}`,
  `${weekday}${month} +${date}(?:,? +${clock})?,? +${year}(?:${rest}|${zone})`,
].map((form) => new RegExp(`^${form}$`, 'i'))

function isTime(text: string): boolean {
  const { year, month = '1', date = '1' } = partsOf(text)
  const named = monthNames.findIndex((name) => name.toLowerCase().startsWith(month.slice(0, 3).toLowerCase()))
  const index = /\d/.test(month) ? Number(month) - 1 : named
  // Leap years repeat after 400 years; `Date.UTC` takes years below 100 as years of the last century.
  const day = new Date(Date.UTC(2000 + (Number(year) % 400), index, Number(date)))
  return day.getUTCMonth() === index && day.getUTCDate() === Number(date)
}

function partsOf(text: string): { year?: string; month?: string; date?: string } {
  for (const form of forms) {
    const parts = form.exec(text)?.groups
    if (parts) return parts
  }
  return {}
}

/** `Z`, an abbreviation that `Date.parse` knows, or an offset after the time. A day in ISO 8601 is UTC anyway. */
const zoned = /^[+-]?\d{4,6}(?:-\d\d){0,2}$|z$|\b(?:utc?|gmt|[ecmp][sd]t)\b|:\d\d.*[+-]\d/i
