import type { Filter, JsonValue } from '@recall/core'
import type { RowCondition } from '../search-index/conditions.ts'
import { joinTags } from '../search-index/document-row.ts'
import type { RowMetadata } from './row-filter.ts'

/** Conditions are nested no deeper than SQLite allows, and more values would not narrow much. */
const mostValues = 100

/** The metadata columns in which values are looked up; other metadata does not narrow. */
const columns: Record<Exclude<keyof RowMetadata, 'tags'>, string | null> = {
  key: 'd.key',
  type: 'd.type',
  createdAt: 'd.created',
  updatedAt: 'd.updated',
  expiresAt: 'd.expires',
  scope: null,
  namespace: null,
  accessedAt: null,
  accessCount: null,
  encrypted: null,
  embeddingModel: null,
  successRate: null,
}

/**
 * A condition that every row fulfils whose entry passes a filter, so that few others need to be looked at. It looks for
 * what a value must equal or contain anywhere in the JSON of the whole value. `undefined` when the filter names nothing
 * to look for.
 */
export function narrowingOf(filter: Filter): RowCondition | undefined {
  const narrowing = narrow(filter, memberOrColumn)
  return narrowing && narrowing.values.length <= mostValues ? narrowing : undefined
}

/** Where a comparison looks; tags or a column only count if the value has no member of that name. */
type Place = 'member of the value' | 'element of a list' | 'tags' | { column: string }

type PlaceOf = (path: readonly string[]) => Place | undefined

const memberOrColumn: PlaceOf = ([first]) => {
  // The index has every member of a conversation but its body.
  if (first === undefined || first === 'body') return undefined
  if (first === 'tags') return 'tags'
  if (!Object.hasOwn(columns, first)) return 'member of the value'
  const column = columns[first as keyof typeof columns]
  return column === null ? undefined : { column }
}

const element: PlaceOf = () => 'element of a list'

function narrow(filter: Filter, placeOf: PlaceOf): RowCondition | undefined {
  switch (filter.kind) {
    case 'all':
      return joined(
        filter.filters.flatMap((part) => narrow(part, placeOf) ?? []),
        'AND',
      )
    case 'any': {
      const parts = filter.filters.map((part) => narrow(part, placeOf))
      return parts.includes(undefined) ? undefined : joined(parts as RowCondition[], 'OR')
    }
    case 'element': {
      const place = placeOf(filter.path)
      return typeof place === 'string' && place !== 'tags' ? narrow(filter.filter, element) : undefined
    }
    case 'compare':
      return comparison(filter, placeOf(filter.path))
    case 'not':
      return undefined
  }
}

function comparison(
  { path, operator, operand }: Filter & { kind: 'compare' },
  place: Place | undefined,
): RowCondition | undefined {
  if (place === undefined) return undefined
  switch (operator) {
    case 'eq':
      return holding([operand], place)
    case 'in':
      return Array.isArray(operand) ? holding(operand, place) : undefined
    case 'overlap':
      if (!Array.isArray(operand)) return undefined
      return place === 'tags' ? tagged(operand) : holding(operand, place)
    case 'contains':
      if (place === 'tags') return tagged([operand])
      return typeof place === 'string' ? containing(operand) : undefined
    case 'gt':
    case 'gte':
      return ordered(path, '>=', operand, place)
    case 'lt':
    case 'lte':
      return ordered(path, '<=', operand, place)
    default:
      return undefined
  }
}

type Scalar = string | number | boolean

/** An object's members may come in another order, and half a surrogate pair is written differently. */
const isScalar = (value: JsonValue): value is Scalar =>
  typeof value === 'string' ? value.isWellFormed() : typeof value === 'number' || typeof value === 'boolean'

const inValue = (json: string): RowCondition => ({ text: 'instr(d.fields, ?) > 0', values: [json] })

/** One of the values occurs somewhere in the value of the entry, or in the column. */
function holding(sought: readonly JsonValue[], place: Place): RowCondition | undefined {
  if (!sought.every(isScalar)) return undefined
  const parts = sought.flatMap((each) => {
    const isInColumn = typeof place === 'object' && typeof each !== 'boolean'
    return [
      inValue(JSON.stringify(each)),
      ...(isInColumn ? [{ text: `${place.column} = ?`, values: [each] }] : []),
    ]
  })
  return joined(parts, 'OR')
}

/** As an element of a list or a part of a string, which JSON escapes character by character. */
function containing(sought: JsonValue): RowCondition | undefined {
  if (!isScalar(sought)) return undefined
  const json = JSON.stringify(sought)
  return inValue(typeof sought === 'string' ? json.slice(1, -1) : json)
}

/** One of the values is a tag, or occurs somewhere in the value of the entry. */
function tagged(sought: readonly JsonValue[]): RowCondition | undefined {
  const parts = sought.map((each) => {
    const inFields = containing(each)
    if (typeof each !== 'string' || !inFields) return inFields
    return joined([inFields, { text: 'instr(d.tags, ?) > 0', values: [joinTags([each])] }], 'OR')
  })
  return parts.includes(undefined) ? undefined : joined(parts as RowCondition[], 'OR')
}

/** Names that need no quotes in a path of SQLite and are not a list index. */
const plainName = /^(?!\d+$)[\w-]+$/
/** SQLite may read the last digits of a number differently, and its driver passes numbers close to 0 as 0. */
const precision = 1e-12
const nearlyZero = 1e-15

function ordered(
  path: readonly string[],
  order: '>=' | '<=',
  limit: JsonValue,
  place: Place,
): RowCondition | undefined {
  if (!isScalar(limit) || typeof limit === 'boolean' || place === 'element of a list') return undefined
  if (typeof place === 'object') {
    const inColumn = { text: `${place.column} ${order} ?`, values: [limit] }
    return joined([inValue(`${JSON.stringify(path[0])}:`), inColumn], 'OR')
  }
  if (!path.every((name) => plainName.test(name))) return undefined
  const at = `$${path.map((name) => `."${name}"`).join('')}`
  const margin = typeof limit === 'number' ? Math.abs(limit) * precision + nearlyZero : 0
  const widened = typeof limit === 'number' ? limit + (order === '>=' ? -margin : margin) : limit
  // A bound text is cut at a NUL, but the JSON is compared as a whole.
  return joined([{ text: `d.fields ->> ? ${order} ?`, values: [at, widened] }, inValue('\\u0000')], 'OR')
}

const joined = (parts: readonly RowCondition[], operator: 'AND' | 'OR'): RowCondition | undefined =>
  parts.length === 0
    ? undefined
    : {
        text: `(${parts.map(({ text }) => text).join(` ${operator} `)})`,
        values: parts.flatMap(({ values }) => values),
      }
