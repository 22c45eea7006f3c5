/** Counts what a reader passed over, by kind, straight into the conversation's facts. */
export type Skip = (kind: string) => void

export function countInto(skipped: Record<string, number>): Skip {
  return (kind) => {
    skipped[kind] = (skipped[kind] ?? 0) + 1
  }
}

/** Kinds that more than one reader reports. */
export const skippedKinds = {
  halfWritten: 'half-written line',
  unreadable: 'unreadable line',
  tooLong: 'line over the size limit',
  invalidUtf8: 'line with invalid UTF-8, read with replacements',
  notAMessage: 'line that is no message',
  unknownBlock: 'unrecognised content block',
} as const
