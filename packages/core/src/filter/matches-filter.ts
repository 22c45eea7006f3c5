import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
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
  const fromMetadata = member(value, first) === undefined && Object.hasOwn(metadata, first)
  let found: JsonValue | undefined = fromMetadata ? metadata : value
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
      return found !== undefined && includes(operand, found)
    case 'nin':
      return found === undefined || !includes(operand, found)
    case 'exists':
      return (found !== undefined) === operand
    case 'contains':
      if (typeof found === 'string') return typeof operand === 'string' && found.includes(operand)
      return includes(found, operand)
    case 'overlap':
      return Array.isArray(found) && found.some((item) => includes(operand, item))
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

/**
 * Code point order; `<` on strings compares UTF-16 units instead. For well-formed strings, which all keys are, it is
 * also the order of their UTF-8 bytes. A lone surrogate counts as its own code point.
 */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    if (a.charCodeAt(i) === b.charCodeAt(i)) continue
    // Compare whole characters: the differing unit may be the second half of a surrogate pair in one string only.
    const whole = i > 0 && isFirstHalf(a.charCodeAt(i - 1)) ? compareAt(a, b, i - 1) : 0
    return whole || compareAt(a, b, i)
  }
  return a.length - b.length
}

const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

const compareAt = (a: string, b: string, i: number): number =>
  (a.codePointAt(i) as number) - (b.codePointAt(i) as number)

/** Deep equality; the order of object members does not matter. */
export function equalJson(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) && a.length === b.length && a.every((item, i) => equalJson(item, b[i] as JsonValue))
    )
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  return names.every(
    (name) => Object.hasOwn(b, name) && equalJson(a[name] as JsonValue, b[name] as JsonValue),
  )
}

function includes(list: JsonValue | undefined, item: JsonValue): boolean {
  return Array.isArray(list) && list.some((candidate) => equalJson(candidate, item))
}
