import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { filterOn } from '../conformance/filter-arbitraries.ts'
import { isMemoryError } from '../errors.ts'
import { everything } from './filter.ts'
import { parseFilter } from './parse-filter.ts'

function problemWith(filters: unknown): string {
  try {
    parseFilter(filters as Record<string, unknown>)
  } catch (error) {
    if (isMemoryError(error, 'MEMORY_INVALID_INPUT')) return error.message
    throw error
  }
  return 'none'
}

describe('parseFilter', () => {
  it('takes every filter of the language', () => {
    fc.assert(
      fc.property(filterOn, (filters) => {
        expect(problemWith(filters)).toBe('none')
      }),
    )
  })

  it('takes or refuses any object, and never fails otherwise', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (filters) => {
        problemWith(filters)
      }),
    )
  })

  it('reads no filter and an empty filter as everything', () => {
    expect(parseFilter(undefined)).toEqual(everything)
    expect(parseFilter({})).toEqual(everything)
  })

  it('drops no condition whose operand is undefined', () => {
    for (const [filters, path] of [
      [{ owner: undefined }, 'filters.owner'],
      [{ a: { gte: undefined } }, 'filters.a.gte'],
      [{ $or: [{ a: 1 }, { b: undefined }] }, 'filters.$or[1].b'],
    ] as const)
      expect(() => parseFilter(filters)).toThrow(`${path} is undefined`)
  })

  it('takes no operator that it does not know beside one with a $ for an equality', () => {
    for (const [operand, name] of [
      [{ $gte: 1, lessThan: 5 }, 'lessThan'],
      [{ lessThan: 5, $gte: 1 }, 'lessThan'],
      [{ gte: 1, $less: 5 }, '$less'],
    ] as const)
      expect(problemWith({ n: operand })).toBe(`filters.n.${name} is not a known operator`)
    const pair = { $gte: 1, lessThan: 5 }
    expect(parseFilter({ n: { eq: pair } })).toMatchObject({ operator: 'eq', operand: pair })
    expect(parseFilter({ n: { gte: 1, lessThan: 5 } })).toMatchObject({ operator: 'eq' })
  })

  it('reads a plain value as equality and an object of operators as conditions', () => {
    expect(parseFilter({ a: 1 })).toEqual({ kind: 'compare', path: ['a'], operator: 'eq', operand: 1 })
    expect(parseFilter({ 'a.b': { gte: 1 } })).toEqual({
      kind: 'compare',
      path: ['a', 'b'],
      operator: 'gte',
      operand: 1,
    })
    expect(parseFilter({ a: { gte: 1, colour: 2 } })).toMatchObject({
      operator: 'eq',
      operand: { gte: 1, colour: 2 },
    })
    expect(parseFilter({ cost$: { in$: 1 } })).toMatchObject({ path: ['cost$'], operand: { in$: 1 } })
    expect(parseFilter({ a: {} })).toMatchObject({ operator: 'eq', operand: {} })
  })

  it('reads and, or and not without a $ only where the operand has their shape', () => {
    expect(parseFilter({ or: [{ a: 1 }] })).toMatchObject({ kind: 'any' })
    expect(parseFilter({ and: [{ a: 1 }] })).toMatchObject({ kind: 'all', filters: [{ path: ['a'] }] })
    expect(parseFilter({ or: [{ a: 1 }, 'else'] })).toMatchObject({ kind: 'compare', path: ['or'] })
    expect(parseFilter({ or: 'else' })).toMatchObject({ kind: 'compare', path: ['or'] })
    expect(parseFilter({ not: { a: 1 } })).toMatchObject({ kind: 'not' })
    expect(parseFilter({ not: true })).toMatchObject({ kind: 'compare', path: ['not'] })
  })

  it.each([
    [{ v: { $regex: 'x' } }, 'filters.v.$regex'],
    [{ $where: 'x' }, 'filters.$where'],
    [{ v: { in: 'a' } }, 'filters.v.in'],
    [{ v: { $elemMatch: { w: { exists: 1 } } } }, 'filters.v.$elemMatch.w.exists'],
    [{ $or: [{ v: 1 }, { v: { gt: [] } }] }, 'filters.$or[1].v.gt'],
    [{ 'a..b': 1 }, 'filters.a..b'],
    [{ v: { w: new Date(0) } }, 'filters.v.w'],
    [{ v: { nin: 'a' } }, 'filters.v.nin'],
    [{ v: { overlap: {} } }, 'filters.v.overlap'],
    [{ v: { gte: true } }, 'filters.v.gte'],
    [{ v: { lt: null } }, 'filters.v.lt'],
    [{ v: { lte: [1] } }, 'filters.v.lte'],
    [{ $and: { v: 1 } }, 'filters.$and'],
    [{ $or: 'v' }, 'filters.$or'],
    ['text', 'filters'],
  ])('names the place of the mistake in %j', (filters, place) => {
    expect(problemWith(filters)).toContain(`${place} `)
  })

  it('says that times of metadata are numbers', () => {
    expect(problemWith({ createdAt: { gte: new Date(0) } })).toContain('getTime() for a time in metadata')
  })

  it('limits depth, number of conditions, length of paths and of lists', () => {
    const nested = (depth: number, wrap: (inner: object) => object, leaf: object): object =>
      depth === 0 ? leaf : wrap(nested(depth - 1, wrap, leaf))
    for (const filterOf of [
      (depth: number) => nested(depth, (inner) => ({ $not: inner }), { a: 1 }),
      (depth: number) => nested(depth, (inner) => ({ $or: [inner] }), { a: 1 }),
      (depth: number) => ({ a: nested(depth, (inner) => ({ not: inner }), { eq: 1 }) }),
      (depth: number) => ({ a: nested(depth, (inner) => ({ elemMatch: inner }), [1]) }),
      (depth: number) => ({ a: nested(depth, (inner) => ({ elemMatch: { b: inner } }), { eq: 1 }) }),
    ]) {
      expect(problemWith(filterOf(20))).toBe('none')
      expect(problemWith(filterOf(21))).toContain('nested deeper')
    }
    const wide = (count: number): object => ({ $or: Array.from({ length: count }, () => ({ a: 1 })) })
    expect(problemWith(wide(499))).toBe('none')
    expect(problemWith(wide(500))).toContain('more than 500')
    for (const logic of ['$or', '$and', 'or']) {
      expect(problemWith({ [logic]: Array(499).fill({}) })).toBe('none')
      expect(problemWith({ [logic]: Array(500).fill({}) })).toContain('more than 500')
    }
    const between = { a: { gt: 1, lt: 2 } }
    expect(problemWith({ $or: Array(166).fill(between), b: 1 })).toBe('none')
    expect(problemWith({ $or: Array(166).fill(between), b: { eq: 1 } })).toContain('more than 500')
    for (const filterOf of [
      (values: number[]) => ({ a: { $in: values } }),
      (values: number[]) => ({ a: { $nin: values.slice(1) }, b: { overlap: values.slice(0, 1) } }),
      (values: number[]) => ({ a: { elemMatch: values } }),
    ]) {
      expect(problemWith(filterOf(Array(1000).fill(1)))).toBe('none')
      expect(problemWith(filterOf(Array(1001).fill(1)))).toContain('more than 1000 values in its lists')
    }
    const path = (parts: number): string => Array(parts).fill('a').join('.')
    expect(problemWith({ [path(200)]: 1 })).toBe('none')
    expect(problemWith({ [path(201)]: 1 })).toContain('more than 200')
  })
})
