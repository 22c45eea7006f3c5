const placeholders = /\[redacted:[a-z0-9-]+\]/g

/** What stands where a secret stood. */
export const placeholder = (kind: string): string => `[redacted:${kind}]`

export const withoutPlaceholders = (text: string): string =>
  text.includes('[redacted:') ? text.replace(placeholders, '') : text
