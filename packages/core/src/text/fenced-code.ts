interface OpenFence {
  mark: string
  /** Least indentation of the code: that of the list item that contains it, 0 outside of lists. */
  indent: number
  /** Most indentation of the fence that closes it. */
  closingIndent: number
  hasCode: boolean
}

/**
 * Returns a function that takes a markdown text line by line, and tells which part of a fenced code block each line is,
 * if any. A block ends at a fence of the same mark that is at least as long with nothing after it, or at the end of the
 * list item that contains it. If its code is not indented like the item, as agents write it, only a fence ends it.
 */
export function trackFence(): (line: string) => 'opening' | 'code' | 'closing' | null {
  let open: OpenFence | null = null
  const partOf = (line: string): 'opening' | 'code' | 'closing' | null => {
    if (open === null) {
      open = openedBy(line)
      return open && 'opening'
    }
    if (closes(line, open)) {
      open = null
      return 'closing'
    }
    if (line.trim() === '') return 'code'
    const isIndented = indentOf(line) >= open.indent
    if (!isIndented && open.hasCode) {
      open = null
      return partOf(line)
    }
    open = { ...open, hasCode: true, indent: isIndented ? open.indent : 0 }
    return 'code'
  }
  return partOf
}

function openedBy(line: string): OpenFence | null {
  const [, before = '', mark, rest = ''] =
    /^( {0,3}(?:(?:[-*+]|\d{1,9}[.)]) {1,4})*)(`{3,}|~{3,})(.*)/s.exec(line) ?? []
  // Three backticks that are closed on their line are code within a sentence.
  if (mark === undefined || (mark.startsWith('`') && rest.includes('`'))) return null
  const indent = before.trim() === '' ? 0 : before.length
  return { mark, indent, closingIndent: indent + 3, hasCode: false }
}

function closes(line: string, { mark, closingIndent }: OpenFence): boolean {
  const [, before = '', found, rest = ''] = /^( *)(`{3,}|~{3,})(.*)/s.exec(line) ?? []
  return found?.startsWith(mark) === true && before.length <= closingIndent && rest.trim() === ''
}

/** A tab is as wide as any list mark. */
const indentOf = (line: string): number => /^[ \t]*/.exec(line)?.[0].replaceAll('\t', '    ').length ?? 0

/**
 * Returns a function that gives the index of the line that closes the code block which a line opens; `null` when it
 * opens none, or one that is never closed. Call it for the lines in order.
 */
export function closingFences(lines: readonly string[]): (from: number) => number | null {
  const unclosed: string[] = []
  return (from) => {
    const mark = /`{3,}|~{3,}/.exec(lines[from] ?? '')?.[0]
    // What closes a longer fence closes a shorter one as well, so not every fence is searched to the end of the text.
    if (mark === undefined || unclosed.some((each) => mark.startsWith(each))) return null
    const partOf = trackFence()
    if (partOf(lines[from] ?? '') === null) return null
    for (let to = from + 1; to < lines.length; to++) {
      const part = partOf(lines[to] ?? '')
      if (part === 'closing') return to
      if (part !== 'code') return null
    }
    unclosed.push(mark)
    return null
  }
}
