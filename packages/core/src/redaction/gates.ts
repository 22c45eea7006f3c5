import { lazily } from '../text/lazily.ts'

/** Something that is worth trying only on a text that holds one of the gates. */
export interface Gated {
  /** In lower case if it ignores case. Empty: worth trying on every text. */
  gate: readonly string[]
  ignoresCase: boolean
}

/** Returns a function that selects the rows worth trying on a text. */
export function openRows<Row extends Gated>(rows: readonly Row[]): (text: string) => Row[] {
  const ungated = rows.filter(({ gate }) => gate.length === 0)
  const findInAnyCase = rowFinder(rows, (literal) => literal.toLowerCase())
  // Made and called only for the few texts that hold one of those gates in some letter case.
  const findAsWritten = lazily(() => rowFinder(rows.filter(({ ignoresCase }) => !ignoresCase)))
  return (text) => {
    const found = findInAnyCase(text.toLowerCase())
    const open = new Set([...ungated, ...found.filter(({ ignoresCase }) => ignoresCase)])
    if (found.some(({ ignoresCase }) => !ignoresCase)) for (const row of findAsWritten()(text)) open.add(row)
    return [...open]
  }
}

/** Returns a function that finds the rows with a gate that a text holds, with the gates spelled by `spelled`. */
function rowFinder<Row extends Gated>(
  rows: readonly Row[],
  spelled: (literal: string) => string = (literal) => literal,
): (text: string) => Row[] {
  const rowsOf = new Map<string, Row[]>()
  for (const row of rows)
    for (const literal of row.gate.map(spelled)) rowsOf.set(literal, [...(rowsOf.get(literal) ?? []), row])
  const findHeld = literalFinder([...rowsOf.keys()])
  return (text) => [...findHeld(text)].flatMap((literal) => rowsOf.get(literal) ?? [])
}

const buckets = 2 ** 15
/** The bucket of the last three characters, from the previous bucket: no bit of the fourth last is left. */
const nextBucket = (bucket: number, text: string, at: number): number =>
  ((bucket << 5) ^ text.charCodeAt(at)) & (buckets - 1)

/**
 * Returns a function that finds the literals that a text holds. It scans the text once, however many literals there
 * are, where searching for each of hundreds takes hundreds of passes.
 */
export function literalFinder(literals: readonly string[]): (text: string) => Set<string> {
  const short = literals.filter((literal) => literal.length < 3)
  /** The literals whose first three characters share a bucket. */
  const groups: string[][] = [[]]
  /** Index of the group in each bucket: for most buckets the first group, which is empty. */
  const groupOf = new Uint16Array(buckets)
  for (const literal of literals.filter(({ length }) => length >= 3)) {
    const bucket = [0, 1, 2].reduce((before, at) => nextBucket(before, literal, at), 0)
    if (groupOf[bucket] === 0) groupOf[bucket] = groups.push([]) - 1
    groups[groupOf[bucket] as number]?.push(literal)
  }
  return (text) => {
    const held = new Set(short.filter((literal) => text.includes(literal)))
    let bucket = 0
    for (let at = 0; at < text.length; at++) {
      bucket = nextBucket(bucket, text, at)
      const group = groupOf[bucket] as number
      if (group === 0) continue
      for (const literal of groups[group] as string[]) if (text.startsWith(literal, at - 2)) held.add(literal)
    }
    return held
  }
}
