/** Control characters, and characters that reverse or hide those beside them. */
const deceptive = /(?![\t\n])[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu

/** Removes from a text of others what could deceive the reader of a terminal. */
export const printable = (text: string): string => text.replace(deceptive, '')
