/** Below this a number is taken as seconds since the epoch, above it as milliseconds. */
const secondsBelow = 1e11

/** ISO 8601 from whatever a transcript calls a time; `undefined` when it is none. */
export function toInstant(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const date = new Date(typeof value === 'number' && value < secondsBelow ? value * 1000 : value)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
