import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { naivelyMatches } from '../../test/naive-filter.ts'
import { condition, document, filterOn } from '../conformance/filter-arbitraries.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import { matchesFilter } from './matches-filter.ts'
import { parseFilter } from './parse-filter.ts'

const metadata: JsonObject = { type: 'x', tags: ['x', 'y'], accessCount: 1 }
const holds = (filters: JsonObject, value: JsonValue): boolean =>
  matchesFilter(parseFilter(filters), { value, metadata })

describe('matchesFilter', () => {
  it('agrees with an oracle that was written another way', () => {
    fc.assert(
      fc.property(filterOn, document, (filters, value) => {
        expect(holds(filters, value)).toBe(naivelyMatches(filters, value, metadata))
      }),
      { numRuns: 3000, examples: [[{ a: { contains: '' } }, { a: '' }]] },
    )
  })

  it('meets both answers often enough to mean something', () => {
    const samples = fc.sample(fc.tuple(filterOn, document), { numRuns: 1000, seed: 1 })
    const matching = samples.filter(([filters, value]) => holds(filters, value)).length
    expect(matching).toBeGreaterThan(100)
    expect(matching).toBeLessThan(900)
  })

  it("obeys De Morgan's laws", () => {
    fc.assert(
      fc.property(filterOn, filterOn, document, (a, b, value) => {
        expect(holds({ $not: { $or: [a, b] } }, value)).toBe(
          holds({ $and: [{ $not: a }, { $not: b }] }, value),
        )
        expect(holds({ $not: { $and: [a, b] } }, value)).toBe(
          holds({ $or: [{ $not: a }, { $not: b }] }, value),
        )
        expect(holds({ $not: { $not: a } }, value)).toBe(holds(a, value))
      }),
    )
  })

  it('takes ne for not eq and nin for not in', () => {
    fc.assert(
      fc.property(document, document, fc.array(document, { maxLength: 3 }), (value, operand, list) => {
        expect(holds({ a: { ne: operand } }, value)).toBe(holds({ a: { not: { eq: operand } } }, value))
        expect(holds({ a: { nin: list } }, value)).toBe(holds({ a: { not: { in: list } } }, value))
      }),
    )
  })

  it.each<[JsonObject, JsonValue[], JsonValue[]]>([
    [{ gt: 1 }, [2], [1, 0, '2', null]],
    [{ gte: 1 }, [1, 2], [0, '1', true]],
    [{ lt: 'b' }, ['a', ''], ['b', 'c', 0, null]],
    [{ lte: 'b' }, ['a', 'b'], ['c', 1, ['a']]],
    [{ contains: 'oo' }, ['pool', ['oo']], ['pol', ['pool'], 7]],
    [{ contains: '' }, ['', 'pool', ['']], [[], 7]],
    [{ contains: 1 }, [[1, 2]], ['1', ['1'], 1]],
    [{ overlap: [1, 'a'] }, [[2, 1], ['a']], [[2], [], 1, 'a']],
  ])('finds by %j what meets it, and nothing else', (operators, met, others) => {
    for (const a of met) expect(holds({ a: operators }, { a })).toBe(true)
    for (const a of others) expect(holds({ a: operators }, { a })).toBe(false)
    expect(holds({ a: operators }, {})).toBe(false)
  })

  it('takes only a whole number as it is written for the place in a list', () => {
    for (const name of ['0', '10'])
      expect(holds({ [`a.${name}`]: 'x' }, { a: Array(11).fill('x') })).toBe(true)
    for (const name of ['00', '1x', 'x1', '-1', '11'])
      expect(holds({ [`a.${name}`]: { exists: true } }, { a: Array(11).fill('x') })).toBe(false)
  })

  it('takes a member of the value before metadata of the same name, and only own members', () => {
    expect(holds({ type: 'x' }, {})).toBe(true)
    expect(holds({ type: 'x' }, { type: null })).toBe(false)
    expect(holds({ 'tags.1': 'y' }, 'text')).toBe(true)
    for (const name of ['constructor', '__proto__', 'toString', 'length']) {
      expect(holds({ [name]: { exists: true } }, {})).toBe(false)
      expect(holds({ [`a.${name}`]: { exists: true } }, { a: [] })).toBe(false)
    }
  })

  it('gives the same answer for an operator with and without its $', () => {
    const spell = (operand: JsonValue): JsonValue => {
      if (operand === null || typeof operand !== 'object' || Array.isArray(operand)) return operand
      return Object.fromEntries(
        Object.entries(operand).map(([name, inner]) => [
          /^[abc]$/.test(name) ? name : `$${name}`,
          name === 'not' || name === 'elemMatch' || /^[abc]$/.test(name) ? spell(inner) : inner,
        ]),
      )
    }
    fc.assert(
      fc.property(condition, document, (bare, value) => {
        expect(holds({ a: spell(bare) }, value)).toBe(holds({ a: bare }, value))
      }),
    )
  })
})
