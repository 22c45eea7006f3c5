import { equalJson, isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { compareCodePoints } from '../text/code-points.ts'
import type { Comparison, Filter } from './filter.ts'

/** What a filter looks at: the value, and the metadata for paths that the value does not have. */
export interface FilterSubject {
  value: JsonValue
  metadata: JsonObject
}

/** The meaning of the filter language. A store that compiles filters must agree with this on every input. */
export function matchesFilter(filter: Filter, subject: FilterSubject): boolean {
  switch (filter.kind) {
    case 'all':
      return filter.filters.every((part) => matchesFilter(part, subject))
    case 'any':
      return filter.filters.some((part) => matchesFilter(part, subject))
    case 'not':
      return !matchesFilter(filter.filter, subject)
    case 'compare':
      return compare(lookUp(filter.path, subject), filter.operator, filter.operand)
    case 'element': {
      const list = lookUp(filter.path, subject)
      if (!Array.isArray(list)) return false
      return list.some((value) => matchesFilter(filter.filter, { value, metadata: {} }))
    }
  }
}

/** The value at a path, or `undefined`; only own members count. */
function lookUp(path: string[], { value, metadata }: FilterSubject): JsonValue | undefined {
  const [first] = path
  if (first === undefined) return value
  let found: JsonValue | undefined = member(value, first) === undefined ? metadata : value
  for (const part of path) found = member(found, part)
  return found
}

function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(name) ? value[Number(name)] : undefined
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

function compare(found: JsonValue | undefined, operator: Comparison, operand: JsonValue): boolean {
  switch (operator) {
    case 'eq':
      return found !== undefined && equalJson(found, operand)
    case 'ne':
      return found === undefined || !equalJson(found, operand)
    case 'in':
      return isListed(operand, found)
    case 'nin':
      return !isListed(operand, found)
    case 'exists':
      return (found !== undefined) === operand
    case 'contains':
      if (typeof found === 'string') return typeof operand === 'string' && found.includes(operand)
      return includes(found, operand)
    case 'overlap':
      return Array.isArray(found) && found.some((item) => isListed(operand, item))
    default: {
      const order = orderOf(found, operand)
      if (order === undefined) return false
      if (operator === 'gt') return order > 0
      if (operator === 'gte') return order >= 0
      if (operator === 'lt') return order < 0
      return order <= 0
    }
  }
}

/** Numbers compare with numbers and strings with strings, by code point; anything else does not compare. */
function orderOf(a: JsonValue | undefined, b: JsonValue): number | undefined {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b)
  return undefined
}

/** A list, split into its scalars and the values that need a deep comparison. */
interface Listed {
  scalars: ReadonlySet<JsonValue>
  others: readonly JsonValue[]
}

/** Cached for the lists of filters, because many values are compared with each. */
const listed = new WeakMap<readonly JsonValue[], Listed>()

function isListed(operand: JsonValue, item: JsonValue | undefined): boolean {
  if (item === undefined || !Array.isArray(operand)) return false
  let known = listed.get(operand)
  if (!known) {
    const isScalar = (value: JsonValue): boolean => typeof value !== 'object' || value === null
    known = {
      scalars: new Set(operand.filter(isScalar)),
      others: operand.filter((value) => !isScalar(value)),
    }
    listed.set(operand, known)
  }
  return known.scalars.has(item) || known.others.some((candidate) => equalJson(candidate, item))
}

function includes(list: JsonValue | undefined, item: JsonValue | undefined): boolean {
  return item !== undefined && Array.isArray(list) && list.some((candidate) => equalJson(candidate, item))
}
