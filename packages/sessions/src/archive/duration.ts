import { parseInstant } from '@recall/core/text'

/** Milliseconds for people: `45s`, `30m`, `1h 5m`, and from two days on `2d 1h`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours >= 48) return pair(Math.floor(hours / 24), 'd', hours % 24, 'h')
  return pair(hours, 'h', minutes % 60, 'm')
}

const pair = (many: number, unit: string, few: number, smaller: string): string =>
  few === 0 ? `${many}${unit}` : `${many}${unit} ${few}${smaller}`

/** Milliseconds of a text that `formatDuration` wrote; `null` for any other. */
export function parseDuration(text: string): number | null {
  const match = /^(?=.)(?:(\d+)d)? ?(?:(\d+)h)? ?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text)
  if (match === null) return null
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((part) => Number(part ?? 0))
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000
}

/** Tracks the times of a sequence of messages. */
export interface TimeSpan {
  add(at: string | undefined): void
  /** When the last message that has a time was sent, ISO 8601. */
  end(): string | undefined
  /**
   * From the earliest to the latest time, for people; `unknown` when no message has one, or all have the same, which is
   * then that of their session.
   */
  duration(): string
}

export function createTimeSpan(): TimeSpan {
  let earliest = Number.POSITIVE_INFINITY
  let latest = Number.NEGATIVE_INFINITY
  let end: string | undefined
  let timed = 0
  return {
    add(at) {
      const time = at === undefined ? Number.NaN : parseInstant(at)
      if (Number.isNaN(time)) return
      timed++
      earliest = Math.min(earliest, time)
      latest = Math.max(latest, time)
      end = new Date(time).toISOString()
    },
    end: () => end,
    duration: () => {
      const isKnown = timed === 1 || latest > earliest
      return isKnown ? formatDuration(latest - earliest) : 'unknown'
    },
  }
}
