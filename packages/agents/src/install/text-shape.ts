/** What of a text must survive an edit: its byte order mark and its line endings. */
export interface TextShape {
  body: string
  eol: '\n' | '\r\n'
  /** Puts a body that was edited back into shape. */
  restore(body: string): string
}

const mark = '\uFEFF'

export function shapeOf(text: string): TextShape {
  const hasMark = text.startsWith(mark)
  const body = hasMark ? text.slice(mark.length) : text
  return {
    body,
    eol: /\r\n/.test(body) ? '\r\n' : '\n',
    restore: (edited) => (hasMark ? mark + edited : edited),
  }
}

/** A text with one kind of line ending. */
export const withEol = (text: string, eol: '\n' | '\r\n'): string => text.replace(/\r?\n/g, eol)
