import {
  createMemoryManager,
  type Filter,
  type JsonObject,
  type JsonValue,
  matchesFilter,
  parseFilter,
} from '@recall/core'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPostgresStore } from '../src/postgres-store.ts'
import { type Engine, emptyTables, engines } from './support/engines.ts'

/** Names and strings that SQL, JSON paths, patterns or text columns could take for something else. */
const strings = fc.constantFrom(
  ...[
    '',
    'a',
    'b',
    'ab',
    '0',
    '1',
    '01',
    '-1',
    ' 1',
    '1e0',
    'type',
    'key',
    'tags',
    'createdAt',
    'null',
    "'",
    '"',
  ],
  ...[
    '$1',
    '%',
    '_',
    '\\',
    '{a}',
    'a,b',
    '}',
    '\u0000',
    '\u0000a',
    '\u0001',
    '\ud800',
    '\ue000',
    '\uffff',
    '😀',
    'é',
    'e\u0301',
  ],
  ...[
    '__proto__',
    'constructor',
    'Z',
    'z',
    '-- ',
    '; drop table entries',
    '::text',
    '?',
    '??',
    '@>',
    'embeddingModel',
  ],
)
const numbers = fc.constantFrom(
  0,
  -0,
  1,
  -1,
  0.1,
  0.30000000000000004,
  1e21,
  1e-7,
  5e-324,
  1.7976931348623157e308,
  9007199254740992,
)
const scalars: fc.Arbitrary<JsonValue> = fc.oneof(strings, numbers, fc.boolean(), fc.constant(null))

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'value' },
    scalars,
    fc.array(tie('value'), { maxLength: 3, depthIdentifier: 'value' }),
    fc.dictionary(strings, tie('value'), { maxKeys: 3, depthIdentifier: 'value' }) as fc.Arbitrary<JsonValue>,
  ),
}))

const path = fc.array(
  strings.filter((name) => name !== '' && !name.includes('.')),
  { minLength: 1, maxLength: 3 },
)
const comparison = (at: fc.Arbitrary<string[]>): fc.Arbitrary<Filter> =>
  fc
    .tuple(
      at,
      fc.oneof(
        fc.tuple(fc.constantFrom('eq', 'ne', 'contains'), value),
        fc.tuple(fc.constantFrom('gt', 'gte', 'lt', 'lte'), fc.oneof(numbers, strings)),
        fc.tuple(fc.constantFrom('in', 'nin', 'overlap'), fc.array(value, { maxLength: 3 })),
        fc.tuple(fc.constant('exists'), fc.boolean()),
      ),
    )
    .map(([path, [operator, operand]]) => ({ kind: 'compare', path, operator, operand }) as Filter)

const { filter } = fc.letrec<{ filter: Filter; inner: Filter }>((tie) => {
  const combined = (of: 'filter' | 'inner', at: fc.Arbitrary<string[]>): fc.Arbitrary<Filter> =>
    fc.oneof(
      { maxDepth: 3 },
      { weight: 4, arbitrary: comparison(at) },
      fc.array(tie(of), { maxLength: 3 }).map((filters): Filter => ({ kind: 'all', filters })),
      fc.array(tie(of), { maxLength: 3 }).map((filters): Filter => ({ kind: 'any', filters })),
      tie(of).map((filter): Filter => ({ kind: 'not', filter })),
      fc.tuple(at, tie('inner')).map(([path, filter]): Filter => ({ kind: 'element', path, filter })),
    )
  // What is said of an element may be said of the element itself.
  return {
    filter: combined('filter', path),
    inner: combined('inner', fc.oneof(path, fc.constant<string[]>([]))),
  }
})

/** What the generator seldom asks where it matters. */
const seldomMet: Filter[] = [
  { kind: 'compare', path: ['a', '01'], operator: 'exists', operand: true },
  { kind: 'compare', path: ['\u0000'], operator: 'contains', operand: '\u0000' },
  { kind: 'compare', path: ['\u0000'], operator: 'gte', operand: '\u0000' },
  { kind: 'compare', path: ['__proto__'], operator: 'eq', operand: 1 },
  {
    kind: 'element',
    path: ['a'],
    filter: {
      kind: 'all',
      filters: [
        {
          kind: 'element',
          path: ['b'],
          filter: { kind: 'compare', path: [], operator: 'eq', operand: '0' },
        },
        { kind: 'compare', path: ['01'], operator: 'eq', operand: 1 },
      ],
    },
  },
]

describe.each(engines)('%s', (_, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())

  it('finds by a compiled filter exactly what matchesFilter accepts', async () => {
    const store = createPostgresStore(engine.database)
    const memory = createMemoryManager({ stores: store, redact: 'allow', clock: () => 1000 })
    const documents = fc.sample(value, { numRuns: 60, seed: 7 }) as JsonValue[]
    // Names that the generator seldom meets at the same place.
    documents.push({
      a: ['x', { '01': 1, b: [0, '0'] }],
      '\u0000': '\u0000',
      createdAt: 5,
      type: { a: null },
    })
    documents.push(JSON.parse('{"__proto__": 1}'))
    await memory.batchWrite(
      'long-term',
      documents.map((value, i) => ({ key: `d${i}`, value, options: { tags: ['a', `t${i % 3}`] } })),
    )
    const all = await memory.search('long-term', {}, { limit: 1000, touch: false })
    expect(all).toHaveLength(documents.length)
    let matched = 0
    await fc.assert(
      fc.asyncProperty(filter, async (wanted) => {
        const query = {
          namespace: 'default',
          scope: 'long-term',
          filter: wanted,
          limit: 1000,
          offset: 0,
        } as const
        const found = await store.find({
          ...query,
          sortBy: 'recency',
          sortOrder: 'desc',
          minScore: 0,
          now: 1000,
        })
        const expected = all.filter(({ value, metadata }) =>
          matchesFilter(wanted, {
            value: value as JsonValue,
            metadata: { ...metadata } as unknown as JsonObject,
          }),
        )
        matched += expected.length
        expect(found.map(({ entry }) => entry.key).sort()).toEqual(expected.map(({ key }) => key).sort())
      }),
      { numRuns: 400, examples: seldomMet.map((one): [Filter] => [one]) },
    )
    // Neither all nor nothing: the comparison said something.
    expect(matched).toBeGreaterThan(400)
    await memory.close()
  })

  it('takes nothing in a query for SQL', async () => {
    const hostile = [
      "'; drop table entries; --",
      "') or true --",
      '$1',
      '{"a"}',
      '\\',
      "' || pg_sleep(9) || '",
      '%s',
    ]
    await emptyTables(engine.database)
    const memory = createMemoryManager({ stores: createPostgresStore(engine.database) })
    await memory.write('long-term', 'safe', 'value', { tags: ['t'] })
    for (const text of hostile) {
      const name = `x${text}`
      await memory.write('long-term', text, { [name]: text }, { tags: [text], type: text })
      expect(await memory.read('long-term', text)).toEqual({ [name]: text })
      for (const query of [{ text }, { tags: [text] }, { filters: { [name]: { contains: text } } }]) {
        const keys = (await memory.search('long-term', query)).map(({ key }) => key)
        expect(keys.every((key) => key !== 'safe')).toBe(true)
      }
      await memory.clear('long-term', { type: text })
      expect(await memory.exists('long-term', text)).toBe(false)
    }
    expect(await memory.read('long-term', 'safe')).toBe('value')
    expect(() => parseFilter({ a: { $where: '1' } })).toThrow()
  })
})
