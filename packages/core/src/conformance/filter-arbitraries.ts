import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../json.ts'

/** Few names and few values, so that generated filters often meet what generated documents hold. */
const name = fc.constantFrom('a', 'b', 'c')
const scalar: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue[]>(
  null,
  true,
  false,
  0,
  1,
  2.5,
  -1,
  '',
  'x',
  'y',
  'xy',
  'Z',
  'é',
  '1',
  '%',
  '_',
)

const list = fc.array(scalar, { maxLength: 3 })
const leaf: fc.Arbitrary<JsonValue> = fc.oneof({ weight: 3, arbitrary: scalar }, list)
const inner: fc.Arbitrary<JsonValue> = fc.oneof(leaf, fc.dictionary(name, leaf, { maxKeys: 2 }))
const member: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 2, arbitrary: inner },
  fc.array(inner, { maxLength: 3 }),
  fc.dictionary(name, inner, { maxKeys: 3 }),
)

/** A value to keep: mostly objects. */
export const document: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 8, arbitrary: fc.dictionary(name, member, { maxKeys: 3 }) as fc.Arbitrary<JsonValue> },
  member,
)

const path = fc.oneof(
  { weight: 3, arbitrary: name },
  fc.tuple(name, fc.constantFrom('a', 'b', '0', '1')).map((parts) => parts.join('.')),
  fc.constantFrom('type', 'tags', 'accessCount', 'absent'),
)

const comparison: fc.Arbitrary<JsonObject> = fc
  .oneof(
    fc.tuple(fc.constantFrom('eq', 'ne', 'contains'), inner),
    fc.tuple(fc.constantFrom('gt', 'gte', 'lt', 'lte'), fc.constantFrom<JsonValue[]>(0, 1, 2, '', 'x', 'Z')),
    fc.tuple(fc.constantFrom('in', 'nin', 'overlap'), list),
    fc.tuple(fc.constant('exists'), fc.boolean()),
  )
  .map(([operator, operand]) => ({ [operator]: operand as JsonValue }))

/** Operators as they follow a field name, spelled without `$`. */
export const condition: fc.Arbitrary<JsonValue> = fc.letrec<{ condition: JsonValue; operators: JsonObject }>(
  (tie) => ({
    operators: fc.oneof(
      { maxDepth: 3 },
      { weight: 5, arbitrary: comparison },
      fc.tuple(comparison, comparison).map(([left, right]) => ({ ...left, ...right })),
      tie('operators').map((operators): JsonObject => ({ not: operators })),
      tie('operators').map((operators): JsonObject => ({ elemMatch: operators })),
      fc
        .dictionary(name, tie('operators'), { minKeys: 1, maxKeys: 2 })
        .map((members): JsonObject => ({ elemMatch: members })),
      fc.oneof(list, scalar).map((equals): JsonObject => ({ elemMatch: equals })),
    ),
    condition: fc.oneof(scalar, list, tie('operators')),
  }),
).condition

/** A whole filter, in the spelling with `$` where the language needs it. */
export const filterOn: fc.Arbitrary<JsonObject> = fc.letrec<{ filter: JsonObject }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    {
      weight: 4,
      arbitrary: fc.dictionary(path, condition, { minKeys: 1, maxKeys: 2 }) as fc.Arbitrary<JsonObject>,
    },
    fc.array(tie('filter'), { maxLength: 3 }).map((parts): JsonObject => ({ $or: parts })),
    fc.array(tie('filter'), { maxLength: 3 }).map((parts): JsonObject => ({ $and: parts })),
    tie('filter').map((part): JsonObject => ({ $not: part })),
  ),
})).filter
