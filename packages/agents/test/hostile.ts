import fc from 'fast-check'

/** What may stand where a reader expects something else. */
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(
    'user',
    'assistant',
    '__proto__',
    'constructor',
    '\ud800',
    '[',
    '[1',
    '',
    '1e999',
    1e300,
    -1,
    0,
  ),
)

/** A sample of a format in which some members are missing and some are something else. */
export function withHoles(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value !== 'object' || value === null) {
    return fc.oneof({ weight: 9, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: anything })
  }
  const members = (): Record<string, fc.Arbitrary<unknown>> =>
    Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withHoles(each)]))
  const inner = Array.isArray(value)
    ? fc.tuple(...value.map(withHoles))
    : fc.record(members(), { requiredKeys: [] })
  return fc.oneof({ weight: 19, arbitrary: inner }, { weight: 1, arbitrary: anything })
}
