/** Whether every line of a file ends as on Windows. One of both kinds is taken as it is. */
const isWindows = (file: string): boolean => file.includes('\r\n') && !/(?<!\r)\n/.test(file)

const plain = (text: string): string => text.replaceAll('\r\n', '\n')

/** Returns a function for what stands in a file: where its lines end as on Windows, a value has plain line ends. */
export const lineEndsOf = (file: string): ((text: string) => string) =>
  isWindows(file) ? plain : (text) => text

/** A change to a file that is made with plain line ends, and keeps those that the file has. */
export const keepingLineEnds = (file: string, change: (file: string) => string): string =>
  isWindows(file) ? change(plain(file)).replaceAll('\n', '\r\n') : change(file)

/** The lines of a text with their ends. To look behind every letter for an end takes ten times as long. */
export const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? ['']
