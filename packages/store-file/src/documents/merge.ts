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
 * What version control left of a merge in a file, if anything. Fenced code, where an agent or a person may quote one, does
 * not count; front matter does.
 */
export function mergeIn(content: string): 'both sides of a merge' | 'a mark of an unfinished merge' | null {
  // This check is enough for most files.
  if (!content.includes('<<<<<<<') && !content.includes('>>>>>>>')) return null
  const lines = linesOf(content.replace(/^---[ \t]*(?=\r?\n)/, ''))
  const isProse = proseLines(lines)
  const prose = lines.filter((_, i) => isProse[i])
  const marks = prose.flatMap((line) => mergeMark(line) ?? [])
  // A side may begin outside a fence and end within one: both sides of a JSON note open one.
  if (/<\|?=+>/.test(marks.join('')) || (marks.includes('<') && sidesOf(content) !== null))
    return 'both sides of a merge'
  return prose.some((line) => /^(?:<{7}|>{7}) /.test(line)) ? 'a mark of an unfinished merge' : null
}

/**
 * The marks, by line, of merges whose sides begin in one block of a file and end in another: they belong to neither, and
 * stay where a block goes. A merge within one block is part of what that says, and so is a line of `=` that no merge
 * needs, as below a title.
 */
export function marksBetween(
  lines: readonly string[],
  isText: readonly boolean[],
  blockOf: readonly number[],
): Set<number> {
  const between = new Set<number>()
  if (!lines.some((line) => line.startsWith('<<<<<<<'))) return between
  let part: Part = 'both'
  let found: number[] = []
  lines.forEach((line, i) => {
    const mark = isText[i] ? mergeMark(line) : undefined
    // What began earlier was not finished.
    if (mark === '<') found = []
    const next = mark === '<' ? 'mine' : partBehind[part][mark ?? '']
    if (next === undefined) return
    part = next
    found.push(i)
    if (part === 'both' && blockOf[found[0] as number] !== blockOf[i])
      for (const each of found) between.add(each)
  })
  return between
}

/** The file without the marks of merges between which nothing is left to choose. */
export const withoutEmptySides = (content: string): string =>
  content.replace(
    /(?<![^\n])<{7}(?: .*)?\r?\n\s*(?:\|{7}(?: .*)?\r?\n\s*)?={7}\r?\n\s*>{7}(?: .*)?(?:\r?\n|$)/g,
    '',
  )

/** The letter of a line that begins a side of a merge, ends it, or separates two. */
export const mergeMark = (line: string): string | undefined =>
  /^(<{7}|\|{7}|={7}|>{7})(?= |\r?\n|$)/.exec(line)?.[1]?.[0]
