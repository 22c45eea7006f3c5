import { trackFence } from './fenced-code.ts'

/**
 * Tells of each line of a markdown text whether a `#` at its beginning makes it a heading: not in front matter, in
 * fenced code, or in a comment, which whoever moves a section would tear apart.
 *
 * @param lines with or without their line ends
 */
export function proseLines(lines: readonly string[]): boolean[] {
  const partOfCode = trackFence()
  const from = frontMatterLength(lines)
  let isComment = false
  return lines.map((line, index) => {
    if (index < from || (!isComment && partOfCode(line) !== null)) return false
    isComment ||= /^ {0,3}<!--/.test(line)
    if (!isComment) return true
    isComment = !line.includes('-->')
    return false
  })
}

/** A line that is never followed by another such mark is a rule across the page. */
function frontMatterLength(lines: readonly string[]): number {
  const isMark = (line = ''): boolean => /^---[ \t]*\r?\n?$/.test(line)
  return isMark(lines[0]) ? lines.findIndex((line, index) => index > 0 && isMark(line)) + 1 : 0
}
