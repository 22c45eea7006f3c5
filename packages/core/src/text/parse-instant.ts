/**
 * Milliseconds since the epoch of a time in a text. A time that names no zone is one of UTC: as local time, the same
 * file would say something else on every machine, and nothing at all in the hour that the summer time leaves out.
 *
 * @returns `NaN` when the text is not a time
 */
export function parseInstant(text: string): number {
  const time = Date.parse(text)
  if (Number.isNaN(time) || zone.test(text)) return time
  // ISO 8601 has the zone right behind the time; other forms may have a word such as `PM` there.
  const inUtc = ['Z', ' UTC'].map((ending) => Date.parse(`${text}${ending}`))
  return inUtc.find((each) => !Number.isNaN(each)) ?? time
}

/** `Z`, an abbreviation that `Date.parse` knows, or a distance behind the time. A day of ISO 8601 is one of UTC anyway. */
const zone = /^[+-]?\d{4,6}(?:-\d\d){0,2}$|z$|\b(?:utc?|gmt|[ecmp][sd]t)\b|:\d\d.*[+-]\d/i
