import { countTermsIn } from '@recall/core/ranking'

/**
 * Indices of the lines that contain the most of a query's words, and how many words that is. Front matter, if the file
 * may have any, is left out.
 *
 * @param options.enough after this many lines with all of the words, the rest is not looked at
 */
export function matchingLines(
  lines: readonly string[],
  terms: ReadonlySet<string>,
  { mayHaveFrontMatter, enough }: { mayHaveFrontMatter: boolean; enough: number },
): { lines: number[]; words: number } {
  const found: { at: number; count: number }[] = []
  let whole = 0
  for (let at = mayHaveFrontMatter ? bodyStart(lines) : 0; at < lines.length && whole < enough; at++) {
    const count = countTermsIn(lines[at] as string, terms)
    if (count > 0) found.push({ at, count })
    if (count === terms.size) whole++
  }
  // Not spread: a pasted log has more matching lines than a call can have arguments.
  const words = found.reduce((highest, { count }) => Math.max(highest, count), 0)
  return { lines: found.filter(({ count }) => count === words).map(({ at }) => at), words }
}

/** Index of the first line below front matter; 0 where there is none. */
export function bodyStart(lines: readonly string[]): number {
  if (lines[0]?.trimEnd() !== '---') return 0
  return lines.findIndex((line, i) => i > 0 && line.trimEnd() === '---') + 1
}
