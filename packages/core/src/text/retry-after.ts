/**
 * Milliseconds to wait by a `Retry-After` header, which holds seconds or a date (RFC 9110, section 10.2.3). None without
 * the header, or when it holds something else.
 *
 * @param now in milliseconds, as `Date.now()` gives it
 */
export function retryAfterOf(headers: { get(name: string): string | null }, now: number): number | undefined {
  const given = headers.get('retry-after')?.trim() ?? ''
  if (/^\d{1,9}(?:\.\d+)?$/.test(given)) return Number(given) * 1000
  // Without the name of a day, `Date.parse` would accept nearly anything.
  const date = /^[A-Za-z]{3,9},? /.test(given) ? Date.parse(given) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
