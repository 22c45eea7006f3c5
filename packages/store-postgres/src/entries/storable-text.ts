/** The text without NUL and lone surrogates, for display and for search by words. */
export const storableText = (text: string): string => text.toWellFormed().replaceAll('\u0000', ' ')
