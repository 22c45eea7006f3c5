/** A heading of markdown that begins with `#`, without its closing marks: `## C# ##` says `C#`. */
export interface Heading {
  /** 1 to 6. */
  level: number
  text: string
}

/**
 * The heading that a line is; `null` for any other line, and for a heading that says nothing.
 *
 * @param line with or without its line end
 */
export function parseHeading(line: string): Heading | null {
  const [, marks = '', rest = ''] = /^(#{1,6})[ \t]+([^ \t\r\n].*)/.exec(line) ?? []
  const text = withoutClosingMarks(rest.trimEnd())
  return text === '' ? null : { level: marks.length, text }
}

/** Begins at the start of a run of blanks: to try each of its blanks would not be linear. */
const withoutClosingMarks = (text: string): string => text.replace(/^#+$|(?<![ \t])[ \t]+#+$/, '')
