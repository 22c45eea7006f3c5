/** The form of a text that must survive an edit: its byte order mark and its line endings. */
export interface TextShape {
  body: string
  eol: '\n' | '\r\n'
  /** Puts the byte order mark back before an edited body. */
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

/** The text with all line endings set to `eol`. */
export const withEol = (text: string, eol: '\n' | '\r\n'): string => text.replace(/\r?\n/g, eol)

/** Whether a settings file is empty. Blanks other than these are characters to YAML and TOML. */
export const isBlank = (text: string): boolean => /^\uFEFF?[ \t\r\n]*$/.test(text)
