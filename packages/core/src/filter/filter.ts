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
