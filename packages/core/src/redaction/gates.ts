import type { Detector } from './detector.ts'

/** A detector with its place in the table. */
export interface Row extends Detector {
  row: number
}

/** Returns what tells which rows of a table are worth trying on a text: those of which it holds a gate. */
export function rowFinder(table: readonly Detector[]): (text: string) => Row[] {
  const rows = table.map((detector, row): Row => ({ ...detector, row }))
  const rowsOf = byGate(rows)
  const findHeld = literalFinder([...rowsOf.keys()])
  const ungated = rows.filter(({ gate }) => gate.length === 0)
  return (text) => {
    const found = new Set(ungated)
    for (const gate of findHeld(text.toLowerCase()))
      for (const row of rowsOf.get(gate) ?? []) if (isOpen(row, text)) found.add(row)
    return [...found]
  }
}

/** The rows by their gates in lower case. */
function byGate(rows: readonly Row[]): Map<string, Row[]> {
  const rowsOf = new Map<string, Row[]>()
  for (const row of rows) {
    for (const literal of row.gate) {
      const lower = literal.toLowerCase()
      const sharing = rowsOf.get(lower)
      if (sharing) sharing.push(row)
      else rowsOf.set(lower, [row])
    }
  }
  return rowsOf
}

/** Whether a text, which holds a gate of the row in some case, holds one in the case that the pattern needs. */
const isOpen = ({ gate, pattern }: Row, text: string): boolean =>
  pattern.ignoreCase || gate.some((literal) => text.includes(literal))

const buckets = 2 ** 14
/** Of what begins with the three characters at a place of a text. */
const bucketAt = (text: string, at: number): number =>
  (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) % buckets

/**
 * Returns what finds those of the literals that a text holds. It goes over the text once, however many they are, where
 * to look for each of hundreds takes hundreds of passes.
 */
export function literalFinder(literals: readonly string[]): (text: string) => Set<string> {
  const short = literals.filter((literal) => literal.length < 3)
  /** The literals that share a bucket. */
  const groups: string[][] = [[]]
  /** Which of the groups is in each bucket: the first one, which is empty, in most. */
  const groupOf = new Uint16Array(buckets)
  for (const literal of literals.filter(({ length }) => length >= 3)) {
    const bucket = bucketAt(literal, 0)
    if (groupOf[bucket] === 0) groupOf[bucket] = groups.push([]) - 1
    groups[groupOf[bucket] as number]?.push(literal)
  }
  return (text) => {
    const held = new Set(short.filter((literal) => text.includes(literal)))
    for (let at = 0; at < text.length - 2; at++) {
      const group = groupOf[bucketAt(text, at)] as number
      if (group === 0) continue
      for (const literal of groups[group] as string[]) if (text.startsWith(literal, at)) held.add(literal)
    }
    return held
  }
}
