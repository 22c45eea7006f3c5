/**
 * Control characters, and those that nobody sees, which can reverse, hide or carry text; emoji and some scripts need
 * the four that are left out.
 */
const deceptive = /(?!\t|\n|\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Default_Ignorable_Code_Point}]/gu

/** Removes from a text of others what could deceive the reader of a terminal. */
export const printable = (text: string): string => text.replace(deceptive, '')
