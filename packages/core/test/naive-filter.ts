import type { JsonObject, JsonValue } from '../src/json.ts'

/**
 * What the filter language means, straight from its spelling and without the parser: slow, plain, and not
 * sharing a line with what it checks.
 */
export function naivelyMatches(filters: JsonObject, value: JsonValue, metadata: JsonObject): boolean {
  return Object.entries(filters).every(([name, operand]) => {
    if (name === '$or') return (operand as JsonObject[]).some((part) => naivelyMatches(part, value, metadata))
    if (name === '$and')
      return (operand as JsonObject[]).every((part) => naivelyMatches(part, value, metadata))
    if (name === '$not') return !naivelyMatches(operand as JsonObject, value, metadata)
    return meets(at(name.split('.'), value, metadata), operand)
  })
}

/** The value at a path in a list of one, or an empty list. */
function at(path: string[], value: JsonValue, metadata: JsonObject): JsonValue[] {
  const own = step([value], path[0] ?? '')
  const first = own.length > 0 ? own : step([metadata], path[0] ?? '')
  return path.slice(1).reduce(step, first)
}

function step(found: JsonValue[], name: string): JsonValue[] {
  return found.flatMap((value) => {
    if (value === null || typeof value !== 'object') return []
    if (Array.isArray(value))
      return String(Number(name)) === name ? value.slice(Number(name), Number(name) + 1) : []
    return Object.entries(value)
      .filter(([member]) => member === name)
      .map(([, member]) => member)
  })
}

const operators = 'eq ne gt gte lt lte in nin exists contains overlap elemMatch not'.split(' ')

function meets(found: JsonValue[], condition: JsonValue): boolean {
  const members =
    condition !== null && typeof condition === 'object' && !Array.isArray(condition)
      ? Object.entries(condition)
      : []
  const isOperators =
    members.length > 0 && members.every(([name]) => operators.includes(name.replace('$', '')))
  if (!isOperators) return found.some((value) => canonical(value) === canonical(condition))
  return members.every(([name, operand]) => operator(name.replace('$', ''), found, operand))
}

function operator(name: string, found: JsonValue[], operand: JsonValue): boolean {
  const value = found[0]
  const among = (list: JsonValue, item: JsonValue | undefined): boolean =>
    item !== undefined && (list as JsonValue[]).map(canonical).includes(canonical(item))
  if (name === 'not') return !meets(found, operand)
  if (name === 'exists') return found.length === (operand ? 1 : 0)
  if (name === 'eq') return among([operand], value)
  if (name === 'ne') return !among([operand], value)
  if (name === 'in') return among(operand, value)
  if (name === 'nin') return !among(operand, value)
  if (name === 'contains') {
    return Array.isArray(value)
      ? among(value, operand)
      : typeof value === 'string' &&
          typeof operand === 'string' &&
          (operand === '' || value.split(operand).length > 1)
  }
  if (name === 'overlap') return Array.isArray(value) && value.some((item) => among(operand, item))
  if (name === 'elemMatch') return Array.isArray(value) && value.some((item) => elementMatches(item, operand))
  return ordered(name, value, operand)
}

function elementMatches(item: JsonValue, operand: JsonValue): boolean {
  if (Array.isArray(operand)) return operand.map(canonical).includes(canonical(item))
  if (operand === null || typeof operand !== 'object') return canonical(item) === canonical(operand)
  const isOperators = Object.keys(operand).every((name) => operators.includes(name.replace('$', '')))
  return isOperators && Object.keys(operand).length > 0
    ? meets([item], operand)
    : naivelyMatches(operand, item, {})
}

function ordered(name: string, value: JsonValue | undefined, operand: JsonValue): boolean {
  if (typeof value !== typeof operand) return false
  if (typeof value !== 'number' && typeof value !== 'string') return false
  const points = (text: string): number[] => [...text].map((character) => character.codePointAt(0) ?? 0)
  const a = typeof value === 'number' ? [value] : points(value)
  const b = typeof operand === 'number' ? [operand] : points(operand as string)
  const differing = a.findIndex((part, i) => part !== b[i])
  const order =
    differing === -1 ? a.length - b.length : (a[differing] ?? 0) - (b[differing] ?? Number.NEGATIVE_INFINITY)
  return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[name] ?? false
}

/** Equal text for equal values, whatever the order of their members. */
function canonical(value: JsonValue): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical)}]`
  return `{${Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name] ?? null)}`)}}`
}
