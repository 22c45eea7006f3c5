import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { detectors } from './detectors.ts'
import { type Gated, literalFinder, openRows } from './gates.ts'

/** Texts that hold some of the literals, which may overlap. */
const textWith = (literals: readonly string[]): fc.Arbitrary<string> => {
  const whole = fc.constantFrom(...literals)
  const part = fc.tuple(whole, fc.nat(6), fc.nat(6)).map(([text, from, to]) => text.slice(from, from + to))
  const piece = fc.oneof(whole, part, fc.string({ unit: 'binary', maxLength: 8 }))
  return fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''))
}

describe('literalFinder', () => {
  const literals = ['pass', 'password', 'assword', 'sword', 'пароль', 'sk', '\t', '令牌', 'aaa', 'aaaa']
  const find = literalFinder(literals)

  it('finds those literals that a text holds, and no other one', () => {
    fc.assert(
      fc.property(textWith(literals), (text) => {
        expect([...find(text)].sort()).toEqual(literals.filter((each) => text.includes(each)).sort())
      }),
    )
  })

  it.each(literals)('finds %j at the beginning, at the end, and as the whole of a text', (literal) => {
    for (const text of [`${literal} is it`, `it is ${literal}`, literal])
      expect(find(text)).toContain(literal)
  })
})

describe('openRows', () => {
  const rows = detectors.map(({ gate, pattern }) => ({ gate, ignoresCase: pattern.ignoreCase }))
  const find = openRows(rows)

  it('names the rows of which a text holds a gate, and those that have none', () => {
    const gates = rows.flatMap(({ gate }) => gate)
    const inAnyCase = gates.flatMap((gate) => [gate, gate.toUpperCase(), gate.toLowerCase()])
    fc.assert(
      fc.property(textWith(inAnyCase), (text) => {
        const lower = text.toLowerCase()
        const isOpen = ({ gate, ignoresCase }: Gated): boolean =>
          gate.length === 0 || gate.some((literal) => (ignoresCase ? lower : text).includes(literal))
        expect(new Set(find(text))).toEqual(new Set(rows.filter(isOpen)))
      }),
    )
  })

  it('is told gates in lower case where case is ignored', () => {
    for (const { gate, ignoresCase } of rows)
      if (ignoresCase) expect(gate).toEqual(gate.map((each) => each.toLowerCase()))
  })
})
