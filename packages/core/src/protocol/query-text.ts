/** Characters that `search` takes. */
const longestQuery = 10_000

/** A description of any length and of any characters, as `search` takes it. */
export const queryOf = (description: string): string => description.slice(0, longestQuery).toWellFormed()
