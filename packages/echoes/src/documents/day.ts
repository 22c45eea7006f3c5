export const dayMs = 24 * 60 * 60 * 1000

/** A day as `YYYY-MM-DD`, in UTC. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && dayOf(time) === text
}

/** Whole days from one day to another; negative when the second is earlier. */
export const daysBetween = (from: string, to: string): number =>
  Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / dayMs)

/** The later of two days; the second may be missing. */
export const laterDay = (first: string, second = ''): string => (second > first ? second : first)
