import { indexedTerms } from '@recall/core'

/**
 * Positions of the lines in which a query's words occur: those that have all of them, or, when no line has,
 * those that have the most. The front matter of a file is not searched.
 */
export function matchingLines(lines: readonly string[], terms: ReadonlySet<string>): number[] {
  const found: { at: number; count: number }[] = []
  for (let at = bodyStart(lines); at < lines.length; at++) {
    const count = countTerms(lines[at] as string, terms)
    if (count > 0) found.push({ at, count })
  }
  const most = Math.max(...found.map(({ count }) => count))
  return found.filter(({ count }) => count === most).map(({ at }) => at)
}

/** How many of the terms a text holds. */
export function countTerms(text: string, terms: ReadonlySet<string>): number {
  const lower = text.toLowerCase()
  // Cutting a text into words costs much more than seeing that none of them can be there.
  if (![...terms].some((term) => lower.includes(term.slice(0, 3)))) return terms.has(lower) ? 1 : 0
  return new Set(indexedTerms(text).flatMap(({ term }) => (terms.has(term) ? [term] : []))).size
}

function bodyStart(lines: readonly string[]): number {
  if (lines[0]?.trimEnd() !== '---') return 0
  return lines.findIndex((line, i) => i > 0 && line.trimEnd() === '---') + 1
}
