import type { JsonValue } from '../json.ts'

/** The operators that compare the value at a path with an operand. */
export const comparisons = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'nin',
  'exists',
  'contains',
  'overlap',
] as const

/**
 * Most values that the lists of one filter (`in`, `nin` and `overlap`) hold in total: each entry that the filter looks
 * at may have to be compared with all of them.
 */
export const mostListed = 1000

/** The operators whose operand is a list. */
export const listComparisons: ReadonlySet<string> = new Set<Comparison>(['in', 'nin', 'overlap'])

export type Comparison = (typeof comparisons)[number]

/** A parsed filter, which stores evaluate or compile. `parseFilter` builds it; `matchesFilter` defines its meaning. */
export type Filter =
  | { kind: 'all'; filters: Filter[] }
  | { kind: 'any'; filters: Filter[] }
  | { kind: 'not'; filter: Filter }
  | { kind: 'compare'; path: string[]; operator: Comparison; operand: JsonValue }
  | { kind: 'element'; path: string[]; filter: Filter }

/** Matches everything. */
export const everything: Filter = { kind: 'all', filters: [] }
