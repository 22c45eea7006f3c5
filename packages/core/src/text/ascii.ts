/**
 * Whether a text is ASCII: then patterns without Unicode properties, which need no preparation, match as those with
 * them.
 */
export const isAscii = (text: string): boolean => ascii.test(text)

const ascii = /^[\0-\x7f]*$/
