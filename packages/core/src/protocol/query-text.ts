/** Longest text that `search` accepts, in UTF-16 units. */
const longestQuery = 10_000

/** Shortens and repairs a description so that `search` accepts it. */
export const queryOf = (description: string): string => description.slice(0, longestQuery).toWellFormed()
