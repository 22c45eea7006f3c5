/**
 * Control characters and invisible ones, which can reverse, hide or carry text; emoji and some scripts need the four
 * that are excluded.
 */
const deceptive = /(?!\t|\n|\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Default_Ignorable_Code_Point}]/gu

/** Removes from another's text what could deceive the reader of a terminal. */
export const printable = (text: string): string => text.replace(deceptive, '')
