/** Counts something that a reader skipped, by kind. */
export type Skip = (kind: string) => void

export function countInto(skipped: Record<string, number>): Skip {
  return (kind) => {
    skipped[kind] = (skipped[kind] ?? 0) + 1
  }
}

/** Kinds of skipped items that more than one reader reports. */
export const skippedKinds = {
  halfWritten: 'half-written line',
  unreadable: 'unreadable line',
  tooLong: 'line over the size limit',
  invalidUtf8: 'line with invalid UTF-8, read with replacements',
  notAMessage: 'line that is not a message',
  unknownBlock: 'unrecognised content block',
} as const
