import { isAscii } from './text/ascii.ts'

/** Any value that survives a round trip through JSON. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }
export type JsonObject = { [key: string]: JsonValue }

/** Deepest nesting accepted, so that no stored value can exhaust a reader's stack. */
export const maxJsonDepth = 100

/** Whether a value is a plain object: not a list, and not an instance of a class. Its members may be anything. */
export function isJsonObject(value: unknown): value is JsonObject {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return true
  // Objects of another realm (a sandbox, a test runner) have their own base prototype.
  return Object.getPrototypeOf(prototype) === null
}

/**
 * Copies a value the way JSON would, but says where it cannot be kept instead of changing it silently: as in JSON,
 * `undefined` object members and the extra properties of lists are left out (for example `index` and `groups` of a
 * regular expression match), and -0 becomes 0; everything else that JSON would alter is an error.
 *
 * @throws TypeError naming the path, for example `value.at is a Date: give its toISOString(), or its getTime() for a
 * time in metadata`
 */
export function toJsonValue(value: unknown, path = 'value', depth = 0, near = path): JsonValue {
  if (depth > maxJsonDepth)
    throw new TypeError(
      `a value nested deeper than ${maxJsonDepth} levels, or containing itself, cannot be kept: ${near}…`,
    )
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${path} is ${value}, which JSON cannot hold`)
    return Object.is(value, -0) ? 0 : value
  }
  // For a value that is too deep, the first steps are enough; in a cycle, all later ones are the same.
  const told = depth <= stepsTold ? path : near
  if (Array.isArray(value)) return toJsonArray(value, path, depth, told)
  if (isJsonObject(value)) return toJsonObject(value, path, depth, told)
  if (value instanceof Date)
    throw new TypeError(`${path} is a Date: give its toISOString(), or its getTime() for a time in metadata`)
  throw new TypeError(`${path} is ${describe(value)}, which JSON cannot hold`)
}

/** Most nested values are leaves and need no path: building one for each would cost more than everything else. */
const isLeaf = (inner: unknown, depth: number): inner is JsonValue => depth < maxJsonDepth && isPlain(inner)

const stepsTold = 5

function toJsonArray(list: readonly unknown[], path: string, depth: number, near: string): JsonValue[] {
  const copy: JsonValue[] = []
  // Other properties are ignored: listing the property names of a long list costs more than copying it. By index, so
  // that a hole of a sparse array is refused: JSON would turn it into null.
  for (let i = 0; i < list.length; i++) {
    const item = list[i]
    copy.push(isLeaf(item, depth) ? item : toJsonValue(item, `${path}[${i}]`, depth + 1, near))
  }
  return copy
}

function toJsonObject(object: object, path: string, depth: number, near: string): JsonObject {
  const copy: JsonObject = {}
  for (const [key, member] of Object.entries(object) as [string, unknown][]) {
    if (member === undefined) continue
    setMember(
      copy,
      key,
      isLeaf(member, depth) ? member : toJsonValue(member, `${path}.${key}`, depth + 1, near),
    )
  }
  return copy
}

/** Assigning `__proto__` would set the prototype; defining it keeps it an ordinary member. */
function setMember(copy: JsonObject, key: string, value: JsonValue): void {
  if (key !== '__proto__') copy[key] = value
  else Object.defineProperty(copy, key, { value, enumerable: true, writable: true, configurable: true })
}

/** Whether a value is kept unchanged. */
const isPlain = (value: unknown): boolean =>
  value === null ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0))

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

/** A copy of a value with `change` applied to every string, object members in insertion order. */
export function mapStrings(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapStrings(member, change)]))
}

/** The text that a value is found by: a string itself, otherwise its string leaves, one per line. */
export const searchableText = (value: JsonValue): string => stringsIn(value).join('\n')

function stringsIn(value: JsonValue): string[] {
  if (typeof value === 'string') return [value]
  return value === null || typeof value !== 'object' ? [] : Object.values(value).flatMap(stringsIn)
}

/** Size of a value as compact JSON in UTF-8: what quotas count. */
export function jsonBytes(value: JsonValue): number {
  const json = JSON.stringify(value)
  return isAscii(json) ? json.length : utf8.encode(json).length
}

const utf8 = new TextEncoder()

function describe(value: unknown): string {
  if (value === undefined) return 'undefined'
  if (typeof value !== 'object') return `a ${typeof value}`
  return `an instance of ${(value as object).constructor?.name ?? 'an unknown class'}`
}

/** Whether a value is valid JSON, nested no deeper than a memory accepts. */
export function isJson(value: unknown): value is JsonValue {
  try {
    toJsonValue(value)
    return true
  } catch {
    return false
  }
}
