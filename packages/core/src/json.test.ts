import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { document } from './conformance/filter-arbitraries.ts'
import { equalJson, isJsonObject, mapStrings, maxJsonDepth, searchableText, toJsonValue } from './json.ts'

describe('toJsonValue', () => {
  it('copies every JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (given) => {
        const value: unknown = JSON.parse(JSON.stringify(given))
        expect(toJsonValue(value)).toEqual(value)
      }),
    )
  })

  it('shares nothing with what it copies', () => {
    const value = { list: [{ a: 1 }] }
    const copy = toJsonValue(value)
    value.list.push({ a: 2 })
    expect(copy).toEqual({ list: [{ a: 1 }] })
  })

  it.each([
    ['undefined', undefined, 'value is undefined'],
    ['a function', { f() {} }, 'value.f is a function'],
    ['a symbol', [Symbol('s')], 'value[0] is a symbol'],
    ['a bigint', 1n, 'value is a bigint'],
    ['NaN', { n: Number.NaN }, 'value.n is NaN'],
    ['Infinity', [[Number.POSITIVE_INFINITY]], 'value[0][0] is Infinity'],
    ['a Map', new Map(), 'value is an instance of Map'],
    ['undefined in a list', [1, undefined], 'value[1] is undefined'],
  ])('says where %s stands', (_, value, problem) => {
    expect(() => toJsonValue(value)).toThrow(problem)
  })

  it('says what to do about a Date', () => {
    expect(() => toJsonValue({ at: new Date(0) })).toThrow('value.at is a Date: give its toISOString()')
  })

  it('says where what holds itself begins, and not how it goes on', () => {
    const value: Record<string, unknown> = { list: [] }
    value.list = [value]
    expect(() => toJsonValue(value)).toThrow(/cannot be kept: value\.list\[0\]\.list\[0\]\.list…$/)
  })

  it('leaves out members that are undefined', () => {
    expect(Object.keys(toJsonValue({ a: 1, b: undefined }) as object)).toEqual(['a'])
  })

  it('keeps of a list its elements alone, as JSON does', () => {
    expect(toJsonValue('day 7'.match(/(?<day>\d)/))).toStrictEqual(['7', '7'])
  })

  it('makes -0 to 0, as JSON does', () => {
    expect(toJsonValue([-0])).toEqual([0])
  })

  it('keeps a member named __proto__ a member', () => {
    const copy = toJsonValue(JSON.parse('{"__proto__": {"polluted": true}}'))
    expect(Object.keys(copy as object)).toEqual(['__proto__'])
    expect({}).not.toHaveProperty('polluted')
  })

  it('takes objects without a prototype', () => {
    expect(toJsonValue(Object.assign(Object.create(null), { a: 1 }))).toEqual({ a: 1 })
  })

  it('takes what another realm has made, such as the code of an agent in a sandbox', () => {
    expect(toJsonValue(runInNewContext('({ list: [{ a: 1 }] })'))).toEqual({ list: [{ a: 1 }] })
  })

  it('refuses cycles and anything nested too deep', () => {
    const cyclic: unknown[] = []
    cyclic.push(cyclic)
    expect(() => toJsonValue(cyclic)).toThrow(`nested deeper than ${maxJsonDepth} levels`)
  })
})

describe('isJsonObject', () => {
  it('tells plain objects from everything else', () => {
    expect(isJsonObject({})).toBe(true)
    expect(isJsonObject(Object.create(null))).toBe(true)
    expect(isJsonObject(runInNewContext('({ a: 1 })'))).toBe(true)
    expect(isJsonObject(runInNewContext('new Map()'))).toBe(false)
    expect(isJsonObject(new (class Note {})())).toBe(false)
    for (const other of [null, undefined, [], 'text', 1, new Date(), new Map()])
      expect(isJsonObject(other)).toBe(false)
  })
})

it('refuses a list with a place that was left empty, which JSON would fill', () => {
  // biome-ignore lint/suspicious/noSparseArray: it is what this is about
  expect(() => toJsonValue({ list: [1, , 2] })).toThrow('value.list[1] is undefined')
})

describe('equalJson', () => {
  it('ignores the order of members and nothing else', () => {
    expect(equalJson({ a: 1, b: [2] }, { b: [2], a: 1 })).toBe(true)
    expect(equalJson([1, 2], [2, 1])).toBe(false)
    expect(equalJson({ a: 1 }, { a: 1, b: null })).toBe(false)
    expect(equalJson({}, [])).toBe(false)
    expect(equalJson(null, false)).toBe(false)
    expect(equalJson(1, '1')).toBe(false)
    expect(equalJson({ a: null }, { b: null })).toBe(false)
  })

  it('holds between a value and its copy', () => {
    fc.assert(
      fc.property(document, (value) => {
        expect(equalJson(value, structuredClone(value))).toBe(true)
      }),
    )
  })
})

describe('mapStrings', () => {
  it('changes every string and nothing else', () => {
    const value = { a: 'x', b: ['y', 1, null, { c: 'z' }], d: true }
    expect(mapStrings(value, (text) => text.toUpperCase())).toEqual({
      a: 'X',
      b: ['Y', 1, null, { c: 'Z' }],
      d: true,
    })
    expect(value.a).toBe('x')
  })

  it('changes nothing when the change is none', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (given) => {
        const value = JSON.parse(JSON.stringify(given))
        expect(mapStrings(value, (text) => text)).toEqual(value)
      }),
    )
  })
})

describe('searchableText', () => {
  it('is a string itself, or the string leaves of a value, a line each', () => {
    expect(searchableText('text')).toBe('text')
    expect(searchableText({ a: 'one', n: 2, b: ['two', { c: 'three' }] })).toBe('one\ntwo\nthree')
    expect(searchableText([1, null, true])).toBe('')
  })
})
