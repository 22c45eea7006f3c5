/**
 * Returns a function that is given a markdown text line by line, and tells which part of a fenced code block each line
 * is, if any. A block ends at a fence of the same mark that is at least as long and has nothing behind it.
 */
export function trackFence(): (line: string) => 'opening' | 'code' | 'closing' | null {
  let fence: string | null = null
  return (line) => {
    const [, mark, rest = ''] = /^ {0,3}(`{3,}|~{3,})(.*)/s.exec(line) ?? []
    if (fence === null) {
      // Three backticks that are closed on their line are code within a sentence.
      if (mark === undefined || (mark.startsWith('`') && rest.includes('`'))) return null
      fence = mark
      return 'opening'
    }
    if (!mark?.startsWith(fence) || rest.trim() !== '') return 'code'
    fence = null
    return 'closing'
  }
}
