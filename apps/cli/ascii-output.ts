import type { Options } from 'tsup'

/**
 * Writes patterns in ASCII, as esbuild writes strings: Node holds a file with any other character in twice the memory,
 * and reads and compiles it more slowly.
 */
export const asciiOutput: NonNullable<Options['plugins']>[number] = {
  name: 'output in ASCII',
  renderChunk: (code) => ({ code: escaped(code) }),
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with them
const beyondAscii = /[^\x00-\x7f]/g

const escaped = (code: string): string =>
  code.replace(beyondAscii, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
