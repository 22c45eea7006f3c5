/** Whether every line of a file ends as on Windows. A file with both kinds is taken as it is. */
const isWindows = (file: string): boolean => file.includes('\r\n') && !/(?<!\r)\n/.test(file)

const plain = (text: string): string => text.replaceAll('\r\n', '\n')

/** Returns a function that gives a text from the file plain line ends, if the file's lines end as on Windows. */
export const lineEndsOf = (file: string): ((text: string) => string) =>
  isWindows(file) ? plain : (text) => text

/** Applies a change to a file with plain line ends, and restores those that the file has. */
export const keepingLineEnds = (file: string, change: (file: string) => string): string =>
  isWindows(file) ? change(plain(file)).replaceAll('\n', '\r\n') : change(file)

/** The lines of a text with their ends. A lookbehind at every letter would take ten times as long. */
export const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? ['']
