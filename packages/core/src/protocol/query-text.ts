import { maxQueryLength } from '../front/inputs.ts'

/** Shortens and repairs a description so that `search` accepts it. */
export const queryOf = (description: string): string => description.slice(0, maxQueryLength).toWellFormed()
