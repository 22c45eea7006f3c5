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

/**
 * Returns a function that gives the index of the line that closes the code block which a line opens; `null` when it
 * opens none, or one that is never closed. Ask for the lines in their order.
 */
export function closingFences(lines: readonly string[]): (from: number) => number | null {
  const unclosed: string[] = []
  return (from) => {
    const mark = /`{3,}|~{3,}/.exec(lines[from] ?? '')?.[0]
    // What closes a longer fence closes a shorter one as well, so not every fence is searched to the end of the text.
    if (mark === undefined || unclosed.some((each) => mark.startsWith(each))) return null
    const partOf = trackFence()
    if (partOf(lines[from] ?? '') === null) return null
    for (let to = from + 1; to < lines.length; to++) if (partOf(lines[to] ?? '') === 'closing') return to
    unclosed.push(mark)
    return null
  }
}
