import { type JsonObject, type JsonValue, matchesFilter, parseFilter } from '@recall/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinTags } from '../search-index/document-row.ts'
import { createStatements, loadSqlite } from '../sqlite/driver.ts'
import { narrowingOf } from './narrowing.ts'

const openDatabase = await loadSqlite()

/** Names and strings that SQL, JSON or its paths could take for something else. */
const odd = fc.constantFrom(
  ...[
    'a',
    'b',
    'c',
    'type',
    'key',
    'createdAt',
    'tags',
    '0',
    '1',
    'a.b',
    '',
    'ab',
    '"',
    '\\',
    "'",
    '$',
    '%',
    'é',
  ],
  ...['\u0000', 'a\u0000b', '\n', '\ud800', '\udc00', '😀', '\uffff', 'null', '"a":1'],
)
const names = fc.oneof({ weight: 3, arbitrary: fc.constantFrom('a', 'b') }, odd)
const texts = fc.oneof({ weight: 3, arbitrary: fc.constantFrom('x', 'xy') }, odd)
const numbers = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 2 }) },
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(texts, texts, numbers, fc.boolean(), fc.constant(null))
const value: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(names, tie('value'), { maxKeys: 3 }) as fc.Arbitrary<JsonObject>,
  ),
})).value
const document = fc.dictionary(names, value, { maxKeys: 4 }) as fc.Arbitrary<JsonObject>

const name = names.filter((each) => each !== '' && !/^\$|\.$/.test(each))
const comparison = fc.oneof(
  fc.tuple(fc.constantFrom('eq', 'ne', 'contains'), value),
  fc.tuple(fc.constantFrom('gt', 'gte', 'lt', 'lte'), fc.oneof(texts, numbers)),
  fc.tuple(fc.constantFrom('in', 'nin', 'overlap'), fc.array(scalar, { maxLength: 3 })),
)
const operators = comparison.map(([operator, operand]) => ({ [`$${operator}`]: operand }))
const member = fc.tuple(name, operators).map(([path, condition]) => ({ [path]: condition }))
const elements = fc.oneof(operators, member).map(($elemMatch) => ({ $elemMatch }))
const field = fc
  .tuple(name, fc.oneof({ weight: 3, arbitrary: operators }, elements))
  .map(([path, condition]) => ({ [path]: condition }))
const filters = fc.oneof(
  { weight: 4, arbitrary: field },
  fc.tuple(field, field).map((both) => ({ $and: both })),
  fc.tuple(field, field).map((both) => ({ $or: both })),
  field.map(($not) => ({ $not })),
)

const metadata = { key: 'a', type: 'b', createdAt: 1, updatedAt: 2, expiresAt: null, tags: ['x', 'é'] }

/** Whether a row with this value fulfils a condition. */
function createRow() {
  const database = openDatabase(':memory:')
  database.exec(
    'CREATE TABLE documents (fields TEXT, key TEXT, type TEXT, created INTEGER, updated INTEGER, expires INTEGER, tags TEXT)',
  )
  const sql = createStatements(database)
  const { key, type, createdAt, updatedAt, expiresAt, tags } = metadata
  sql('INSERT INTO documents VALUES (NULL, ?, ?, ?, ?, ?, ?)').run(
    ...[key, type, createdAt, updatedAt, expiresAt, joinTags(tags)],
  )
  const hold = sql('UPDATE documents SET fields = ?')
  return (fields: JsonValue, { text, values }: { text: string; values: (string | number)[] }): boolean => {
    hold.run(JSON.stringify(fields))
    return database.prepare(`SELECT 1 FROM documents d WHERE ${text}`).get(...values) !== undefined
  }
}

describe('narrowingOf', () => {
  const row = createRow()
  const holds = (source: JsonObject, fields: JsonValue): boolean | undefined => {
    const narrowing = narrowingOf(parseFilter(source))
    return narrowing && row(fields, narrowing as { text: string; values: (string | number)[] })
  }

  it('holds for every row that passes the filter', () => {
    fc.assert(
      fc.property(document, filters, (fields, source) => {
        const filter = parseFilter(source)
        fc.pre(matchesFilter(filter, { value: fields, metadata }))
        expect(holds(source, fields)).not.toBe(false)
      }),
      { numRuns: 10_000 },
    )
  })

  it.each<[JsonObject, JsonObject]>([
    [{ a: { $gte: 'x\u0000' } }, { a: 'x\u0000y' }],
    [{ a: { $lt: 'x\u0000z' } }, { a: 'x\u0000y' }],
    [{ a: { $lt: 1e-323 } }, { a: 5e-324 }],
    [{ a: { $gt: 0.1 } }, { a: 0.10000000000000002 }],
    [{ a: { $contains: '\ud83d' } }, { a: '😀' }],
    [{ createdAt: { $gt: 100 } }, { createdAt: 200 }],
    [{ type: { $in: ['x', 'y'] } }, { type: 'y' }],
    [{ type: 'b' }, {}],
    [{ tags: { $contains: 'é' } }, {}],
    [{ tags: { $overlap: ['y', 'x'] } }, {}],
    [{ tags: { $elemMatch: { $contains: 'x' } } }, {}],
    [{ tags: { $contains: 'of' } }, { tags: 'a word of it' }],
    [{ a: { $elemMatch: { b: { $gt: 1 } } } }, { a: [{ b: 2 }] }],
  ])('of %j does not rule out %j', (source, fields) => {
    expect(matchesFilter(parseFilter(source), { value: fields, metadata })).toBe(true)
    expect(holds(source, fields)).not.toBe(false)
  })

  it.each<[JsonObject, JsonValue]>([
    [{ status: 'open' }, { status: 'done' }],
    [{ n: 7 }, { n: 8 }],
    [{ n: { $gt: 7 } }, { n: 5 }],
    [{ day: { $lt: '2026-03-01' } }, { day: '2026-04-01' }],
    [{ goal: { $contains: 'deploy' } }, { goal: 'test' }],
    [{ type: 'playbook' }, {}],
    [{ tags: { $contains: 'y' } }, { steps: ['x'] }],
    [{ tags: { $overlap: ['y', 'xé'] } }, {}],
    [{ createdAt: { $gte: 100 } }, {}],
    [{ steps: { $elemMatch: { tool: 'git' } } }, { steps: [{ tool: 'npm' }] }],
    [{ steps: { $elemMatch: { $contains: 'git' } } }, { steps: ['npm'] }],
    [
      { status: 'open', owner: { $ne: 'ann' } },
      { status: 'done', owner: 'bo' },
    ],
  ])('of %j rules out %j', (source, fields) => {
    expect(holds(source, fields)).toBe(false)
  })

  it('is none where nothing can be looked for', () => {
    for (const source of [
      { a: { $ne: 1 } },
      { $not: { a: 1 } },
      { tags: { $contains: null } },
      { tags: { $elemMatch: { $contains: 'a' } } },
      { body: 'x' },
      {},
    ])
      expect(narrowingOf(parseFilter(source))).toBeUndefined()
    expect(narrowingOf(parseFilter({ n: { $in: Array.from({ length: 101 }, (_, i) => i) } }))).toBeUndefined()
  })
})
