import { parseInstant } from '@recall/core/text'

/** A smaller number counts as seconds since the epoch, any other as milliseconds. */
const secondsBelow = 1e11

/** ISO 8601 from a time as a transcript writes it, a text or a number; `undefined` when it is not a time. */
export function toInstant(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const date = new Date(timeOf(value))
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

function timeOf(value: string | number): number {
  if (typeof value === 'string') return parseInstant(value)
  return value < secondsBelow ? value * 1000 : value
}
