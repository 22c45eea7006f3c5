import { proseLines } from '@recall/core/text'
import { linesOf } from './line-ends.ts'

/**
 * The two versions of a file in which version control left both sides of a merge, also with what both come from
 * between them; `null` where there is nothing of the kind.
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

/** What begins behind a mark; one that stands elsewhere is a line as any other. */
const partBehind: Record<Part, Record<string, Part>> = {
  both: { '<': 'mine' },
  mine: { '|': 'base', '=': 'theirs' },
  base: { '=': 'theirs' },
  theirs: { '>': 'both' },
}

/**
 * Whether version control left both sides of a merge in a file. What an agent or a person quotes in fenced code does
 * not count; front matter does.
 */
export function hasBothSides(content: string): boolean {
  // Most files are looked at for this alone.
  if (!content.includes('<<<<<<<')) return false
  const lines = linesOf(content.replace(/^---[ \t]*(?=\r?\n)/, ''))
  const isProse = proseLines(lines)
  const marks = lines.flatMap((line, i) => (isProse[i] ? (mergeMark(line) ?? []) : []))
  // A side may begin outside a fence and end within: both sides of a JSON note open one.
  return /<\|?=+>/.test(marks.join('')) || (marks.includes('<') && sidesOf(content) !== null)
}

/** The letter of the line that begins a side of a merge, ends it, or stands between two. */
export const mergeMark = (line: string): string | undefined =>
  /^(<{7}|\|{7}|={7}|>{7})(?= |\r?\n|$)/.exec(line)?.[1]?.[0]
