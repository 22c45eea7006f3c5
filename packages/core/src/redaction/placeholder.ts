const placeholders = /\[redacted:[a-z0-9-]+\]/g

/** The text that replaces a secret. */
export const placeholder = (kind: string): string => `[redacted:${kind}]`

export const withoutPlaceholders = (text: string): string =>
  text.includes('[redacted:') ? text.replace(placeholders, '') : text
