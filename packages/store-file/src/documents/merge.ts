import { proseLines } from '@recall/core/text'
import { linesOf } from './line-ends.ts'

/**
 * The two versions of a file in which version control left both sides of a merge, even when their common ancestor
 * stands between them; `null` when there is no such merge.
 */
export function sidesOf(content: string): [mine: string, theirs: string] | null {
  let [mine, theirs] = ['', '']
  let part: Part = 'both'
  let isMerged = false
  for (const line of linesOf(content)) {
    const next: Part | undefined = partBehind[part][mergeMark(line) ?? '']
    if (next !== undefined) {
      part = next
      isMerged = true
      continue
    }
    if (part === 'both' || part === 'mine') mine += line
    if (part === 'both' || part === 'theirs') theirs += line
  }
  return isMerged && part === 'both' ? [mine, theirs] : null
}

type Part = 'both' | 'mine' | 'base' | 'theirs'

/** The part that a mark begins; a mark in any other place is an ordinary line. */
const partBehind: Record<Part, Record<string, Part>> = {
  both: { '<': 'mine' },
  mine: { '|': 'base', '=': 'theirs' },
  base: { '=': 'theirs' },
  theirs: { '>': 'both' },
}

/**
 * Whether version control left both sides of a merge in a file. Fenced code, where an agent or a person may quote one,
 * does not count; front matter does.
 */
export function hasBothSides(content: string): boolean {
  // This check is enough for most files.
  if (!content.includes('<<<<<<<')) return false
  const lines = linesOf(content.replace(/^---[ \t]*(?=\r?\n)/, ''))
  const isProse = proseLines(lines)
  const marks = lines.flatMap((line, i) => (isProse[i] ? (mergeMark(line) ?? []) : []))
  // A side may begin outside a fence and end within one: both sides of a JSON note open one.
  return /<\|?=+>/.test(marks.join('')) || (marks.includes('<') && sidesOf(content) !== null)
}

/** The letter of a line that begins a side of a merge, ends it, or separates two. */
export const mergeMark = (line: string): string | undefined =>
  /^(<{7}|\|{7}|={7}|>{7})(?= |\r?\n|$)/.exec(line)?.[1]?.[0]
