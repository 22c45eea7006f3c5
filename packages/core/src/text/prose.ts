import { trackFence } from './fenced-code.ts'

/**
 * For each line of a markdown text, whether a `#` at its beginning makes it a heading: not in front matter, in fenced
 * code, or in a comment, which moving a section would tear apart.
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

/** If the lines between two such marks are not fields, or no second mark follows, the marks are horizontal rules. */
function frontMatterLength(lines: readonly string[]): number {
  const isMark = (line = ''): boolean => /^---[ \t]*\r?\n?$/.test(line)
  if (!isMark(lines[0])) return 0
  const end = lines.findIndex((line, index) => index > 0 && isMark(line))
  const inside = lines.slice(1, Math.max(1, end))
  const saysNothing = !inside.some((line) => field.test(line)) && inside.some((line) => /^##/.test(line))
  return saysNothing || !inside.every((line) => ofFields.test(line)) ? 0 : end + 1
}

const field = /^[^\s:#-][^:]*:(?:\s|$)/
/** A field, its continuation, a comment, or a blank line. */
const ofFields = /^(?:[^\s:#-][^:]*:(?:\s|$)|[\s#\-\]}]|$)/
