/** Escape sequences, and characters that reverse or hide what stands beside them. */
const deceptive = /(?![\t\n])[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu

/** A text of others as it may reach a terminal. */
export const printable = (text: string): string => text.replace(deceptive, '')
