import { MemoryError, MemoryErrorCode } from '../errors.ts'
import { isJsonObject, type JsonObject, type JsonValue, toJsonValue } from '../json.ts'
import {
  type Comparison,
  comparisons,
  everything,
  type Filter,
  listComparisons,
  mostListed,
} from './filter.ts'

const maxDepth = 20
const maxConditions = 500
/** Values are never nested this deep, so a longer path leads nowhere. */
const maxPath = 200
const operators: ReadonlySet<string> = new Set([...comparisons, 'elemMatch', 'not'])

/**
 * Reads the filter language:
 *
 * - `{ outcome: 'success' }` equality with any JSON value; `{ 'goal.kind': 'deploy' }` a dotted path, whose numeric
 *   parts index arrays
 * - `{ successRate: { gte: 0.8, lt: 1 } }` operators, all of which must hold: `eq ne gt gte lt lte in nin exists
 *   contains overlap elemMatch not`, each also with a leading `$`; next to a name with `$`, every name must be an
 *   operator
 * - `{ $or: [ … ] }`, `{ $and: [ … ] }`, `{ $not: { … } }`, also without `$` when the operand has that shape
 *
 * A path is looked up in the value; when the value has no such member, in the entry's metadata. A filter has at most
 * 500 conditions (an empty object counts as one), nested at most 20 levels deep, at most 200 parts in a path, and at
 * most 1,000 values in total in its lists for `in`, `nin` and `overlap`.
 *
 * @throws MemoryError INVALID_INPUT with the path of the first problem
 */
export function parseFilter(filters: Record<string, unknown> | undefined): Filter {
  if (filters === undefined) return everything
  const budget = { conditions: maxConditions, listed: mostListed }
  return parseConditions(copyOf(asObject(filters, 'filters'), 'filters'), 'filters', 0, budget)
}

function parseConditions(source: JsonObject, at: string, depth: number, budget: Budget): Filter {
  if (depth > maxDepth) fail(at, `is nested deeper than ${maxDepth} levels`)
  const filters: Filter[] = []
  const conditions = Object.entries(source)
  if (conditions.length === 0) spend(budget, at)
  for (const [name, operand] of conditions) {
    spend(budget, at)
    const path = `${at}.${name}`
    const logic = logicalOperator(name, operand)
    if (logic === 'not') {
      filters.push({ kind: 'not', filter: parseConditions(asObject(operand, path), path, depth + 1, budget) })
    } else if (logic) {
      if (!Array.isArray(operand)) fail(path, 'takes a list of filters')
      const parts = operand.map((part, i) =>
        parseConditions(asObject(part, `${path}[${i}]`), `${path}[${i}]`, depth + 1, budget),
      )
      filters.push({ kind: logic === 'and' ? 'all' : 'any', filters: parts })
    } else if (name.startsWith('$')) {
      fail(path, 'is not an operator here: a field name must come before it')
    } else {
      filters.push(parseField(name.split('.'), operand as JsonValue, path, depth, budget))
    }
  }
  return filters.length === 1 ? (filters[0] as Filter) : { kind: 'all', filters }
}

function parseField(path: string[], operand: JsonValue, at: string, depth: number, budget: Budget): Filter {
  if (depth > maxDepth) fail(at, `is nested deeper than ${maxDepth} levels`)
  if (path.some((part) => part === '')) fail(at, 'has an empty part in its path')
  if (path.length > maxPath) fail(at, `has more than ${maxPath} parts in its path`)
  if (!isOperatorObject(operand, at)) return { kind: 'compare', path, operator: 'eq', operand }
  const filters = Object.entries(operand).map(([name, value]): Filter => {
    spend(budget, at)
    const operator = name.replace(/^\$/, '')
    const where = `${at}.${name}`
    if (operator === 'elemMatch') {
      return { kind: 'element', path, filter: parseElement(value, where, depth + 1, budget) }
    }
    if (operator === 'not') {
      return { kind: 'not', filter: parseField(path, value, where, depth + 1, budget) }
    }
    return {
      kind: 'compare',
      path,
      operator: operator as Comparison,
      operand: checkOperand(operator, value, where, budget),
    }
  })
  return filters.length === 1 ? (filters[0] as Filter) : { kind: 'all', filters }
}

/**
 * `$elemMatch` takes conditions on an element's members, operators on the element itself, or a list of values that the
 * element may equal.
 */
function parseElement(operand: JsonValue, at: string, depth: number, budget: Budget): Filter {
  if (depth > maxDepth) fail(at, `is nested deeper than ${maxDepth} levels`)
  if (Array.isArray(operand)) {
    spendListed(budget, operand, at)
    return { kind: 'compare', path: [], operator: 'in', operand }
  }
  if (!isJsonObject(operand)) return { kind: 'compare', path: [], operator: 'eq', operand }
  if (isOperatorObject(operand, at)) return parseField([], operand, at, depth, budget)
  return parseConditions(operand, at, depth, budget)
}

function checkOperand(operator: string, operand: JsonValue, at: string, budget: Budget): JsonValue {
  if (listComparisons.has(operator)) {
    if (!Array.isArray(operand)) fail(at, 'takes a list')
    spendListed(budget, operand, at)
  } else if (operator === 'exists') {
    if (typeof operand !== 'boolean') fail(at, 'takes true or false')
  } else if (operator === 'gt' || operator === 'gte' || operator === 'lt' || operator === 'lte') {
    if (typeof operand !== 'number' && typeof operand !== 'string') fail(at, 'takes a number or a string')
  }
  return operand
}

/**
 * True when every member is an operator. An unknown `$name`, or a plain name next to a `$name`, is an error, not an
 * equality.
 */
function isOperatorObject(operand: JsonValue, at: string): operand is JsonObject {
  if (!isJsonObject(operand)) return false
  const names = Object.keys(operand)
  const others = names.filter((name) => !operators.has(name.replace(/^\$/, '')))
  const marked = names.find((name) => name.startsWith('$'))
  const unknown = others.find((name) => name.startsWith('$') || marked !== undefined)
  if (unknown !== undefined) fail(`${at}.${unknown}`, 'is not a known operator')
  return names.length > 0 && others.length === 0
}

function logicalOperator(name: string, operand: JsonValue): 'and' | 'or' | 'not' | undefined {
  if (name === '$and' || name === '$or' || name === '$not') return name.slice(1) as 'and' | 'or' | 'not'
  if ((name === 'and' || name === 'or') && Array.isArray(operand) && operand.every(isJsonObject)) return name
  if (name === 'not' && isJsonObject(operand)) return name
  return undefined
}

function asObject(value: unknown, at: string): JsonObject {
  if (!isJsonObject(value)) fail(at, 'must be an object of conditions')
  return value
}

function copyOf(filters: object, at: string): JsonObject {
  let copy: JsonValue
  try {
    copy = toJsonValue(filters, at)
  } catch (error) {
    throw new MemoryError((error as Error).message, MemoryErrorCode.INVALID_INPUT, { cause: error })
  }
  refuseUndefined(filters, at)
  return copy as JsonObject
}

/** A condition whose operand is missing by mistake must not match what it was meant to exclude. */
function refuseUndefined(value: unknown, at: string): void {
  if (Array.isArray(value)) for (const [i, item] of value.entries()) refuseUndefined(item, `${at}[${i}]`)
  else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) fail(`${at}.${name}`, 'is undefined: leave it out, or compare with null')
      refuseUndefined(member, `${at}.${name}`)
    }
  }
}

function fail(at: string, problem: string): never {
  throw new MemoryError(`${at} ${problem}`, MemoryErrorCode.INVALID_INPUT, {
    details: { issues: [{ path: at, message: problem }] },
  })
}

/** How much more the filter may hold. */
interface Budget {
  conditions: number
  listed: number
}

function spend(budget: Budget, at: string): void {
  if (--budget.conditions < 0) fail(at, `has more than ${maxConditions} conditions`)
}

function spendListed(budget: Budget, list: readonly JsonValue[], at: string): void {
  budget.listed -= list.length
  if (budget.listed < 0) fail(at, `has more than ${mostListed} values in its lists: ask in several searches`)
}
