import type { Comparison, Filter, JsonValue } from '@recall/core'
import { type SQL, sql } from 'drizzle-orm'
import { entries } from '../schema/entries.ts'
import { comparableText } from './comparable-text.ts'
import { type ChangingMetadata, changingMetadata, comparableJson } from './filter-fields.ts'

/**
 * Compiles a filter to a condition on the entries table. It is true exactly where `matchesFilter` is, and never null.
 * Names, paths and operands are parameters: nothing in a filter becomes SQL text.
 */
export function compileFilter(filter: Filter): SQL {
  return compile(filter, entryMember)
}

/** The JSON at a path, or SQL null if there is none. */
type LookUp = (path: readonly string[]) => SQL

function compile(filter: Filter, lookUp: LookUp): SQL {
  switch (filter.kind) {
    case 'all':
      return joined(filter.filters, 'and', lookUp)
    case 'any':
      return joined(filter.filters, 'or', lookUp)
    case 'not':
      return sql`not ${compile(filter.filter, lookUp)}`
    case 'compare':
      return compare(lookUp(filter.path), filter.operator, filter.operand)
    case 'element': {
      // A nested element condition reuses the name `item`, which hides the outer one: the inner condition does not need
      // it.
      const matches = compile(filter.filter, (path) => memberAt(sql`item.value`, path))
      return someElement(lookUp(filter.path), sql`item`, matches)
    }
  }
}

function joined(filters: readonly Filter[], operator: 'and' | 'or', lookUp: LookUp): SQL {
  if (filters.length === 0) return operator === 'and' ? sql`true` : sql`false`
  const parts = filters.map((part) => compile(part, lookUp))
  return sql`(${sql.join(parts, sql.raw(` ${operator} `))})`
}

function entryMember(path: readonly string[]): SQL {
  const [first = '', ...rest] = path
  const own = memberAt(sql`${entries.fields}`, path)
  if (!isChanging(first)) return own
  const changing = memberAt(changingColumns[first], rest)
  return sql`case when ${entries.fields} ? ${first} then ${own} else ${changing} end`
}

const isChanging = (name: string): name is ChangingMetadata =>
  (changingMetadata as readonly string[]).includes(name)

const orJsonNull = (column: SQL | (typeof entries)[ChangingMetadata]): SQL =>
  sql`coalesce(to_jsonb(${column}), 'null')`

const changingColumns: Record<ChangingMetadata, SQL> = {
  createdAt: orJsonNull(entries.createdAt),
  updatedAt: orJsonNull(entries.updatedAt),
  accessedAt: orJsonNull(entries.accessedAt),
  accessCount: orJsonNull(entries.accessCount),
  expiresAt: orJsonNull(entries.expiresAt),
  embeddingModel: orJsonNull(entries.embeddingModel),
}

/** `#>` would treat `01` and `-1` as positions in a list; in the filter language they are member names. */
function memberAt(json: SQL, path: readonly string[]): SQL {
  return path.reduce(
    (found, name) =>
      /^(0|[1-9]\d*)$/.test(name)
        ? sql`(${found} #> array[${name}::text])`
        : sql`(${found} -> ${comparableText(name)}::text)`,
    json,
  )
}

function compare(found: SQL, operator: Comparison, operand: JsonValue): SQL {
  switch (operator) {
    case 'eq':
      return sql`coalesce(${found} = ${json(operand)}, false)`
    case 'ne':
      return sql`coalesce(${found} <> ${json(operand)}, true)`
    case 'in':
      return sql`coalesce(${isIn(found, operand)}, false)`
    case 'nin':
      return sql`coalesce(not ${isIn(found, operand)}, true)`
    case 'exists':
      return operand === true ? sql`(${found} is not null)` : sql`(${found} is null)`
    case 'contains': {
      const inList = someElement(found, sql`part`, sql`part.value = ${json(operand)}`)
      if (typeof operand !== 'string') return inList
      const inText = sql`strpos(${textOf(found)}, ${comparableText(operand)}) > 0`
      return sql`case jsonb_typeof(${found}) when 'string' then ${inText} else ${inList} end`
    }
    case 'overlap': {
      // The database hashes both lists; comparing each element with each takes seconds for a few thousand.
      const shared = sql`select jsonb_array_elements(${found}) intersect select jsonb_array_elements(${json(operand)})`
      return sql`case when jsonb_typeof(${found}) = 'array' then exists (${shared}) else false end`
    }
    default:
      return order(found, operator, operand)
  }
}

const symbols = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/** Strings compare by code point, which is the order of their UTF-8 bytes. */
function order(found: SQL, operator: keyof typeof symbols, operand: JsonValue): SQL {
  const symbol = sql.raw(symbols[operator])
  return typeof operand === 'number'
    ? sql`case when jsonb_typeof(${found}) = 'number' then (${found})::numeric ${symbol} ${String(operand)}::text::numeric else false end`
    : sql`case when jsonb_typeof(${found}) = 'string' then ${textOf(found)} ${symbol} ${comparableText(String(operand))}::text else false end`
}

const json = (value: JsonValue): SQL => sql`${JSON.stringify(comparableJson(value))}::text::jsonb`

const textOf = (found: SQL): SQL => sql`(${found} #>> '{}') collate "C"`

const isIn = (found: SQL, list: JsonValue): SQL =>
  sql`${found} = any(array(select jsonb_array_elements(${json(list)})))`

/** Whether any element of a list meets a condition, which calls the element `name.value`; false for other types. */
const someElement = (list: SQL, name: SQL, condition: SQL): SQL =>
  sql`case when jsonb_typeof(${list}) = 'array' then exists (select from jsonb_array_elements(${list}) as ${name}(value) where ${condition}) else false end`
