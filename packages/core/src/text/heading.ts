/** A heading of markdown that begins with `#`, without its closing marks: `## C# ##` says `C#`. */
export interface Heading {
  /** 1 to 6. */
  level: number
  text: string
}

/**
 * Parses a heading; `null` for any other line, and for a heading without text.
 *
 * @param line with or without its line end
 */
export function parseHeading(line: string): Heading | null {
  const [, marks = '', rest = ''] = /^(#{1,6})[ \t]+([^ \t\r\n].*)/.exec(line) ?? []
  const text = withoutClosingMarks(rest.trimEnd())
  return text === '' ? null : { level: marks.length, text }
}

/**
 * The name of a section, and the links to the files that its text was moved to, as `distill` leaves them after it:
 * `People (see [people.md](people.md))`. No links where it has none.
 */
export function splitPointer(heading: string): { name: string; links: string } {
  const [pointer = '', links = ''] =
    / \(see ((?:(?:, )?\[[^\]\s]+\.md\]\([^)\s]+\.md\))+)\)$/.exec(heading) ?? []
  return { name: heading.slice(0, heading.length - pointer.length), links }
}

/** Matches only from the start of a run of blanks: trying each of its blanks would not be linear. */
const withoutClosingMarks = (text: string): string => text.replace(/^#+$|(?<![ \t])[ \t]+#+$/, '')
