import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { literalFilter } from './literal-filter.ts'

const literals = ['AKIA', '-----BEGIN', 'пароль', 'SK', '\t', 'password']

describe('literalFilter', () => {
  it('says yes of each literal that a text holds, in any case', () => {
    const piece = fc.oneof(fc.constantFrom(...literals), fc.string({ unit: 'binary', maxLength: 8 }))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const text = pieces.join('').toLowerCase()
        const mayHold = literalFilter(literals)(text)
        for (const literal of literals)
          if (text.includes(literal.toLowerCase())) expect(mayHold(literal)).toBe(true)
      }),
    )
  })

  it('says no of a literal with three characters in a row that the text lacks', () => {
    const mayHold = literalFilter(literals)('the passport of akira begins here')
    expect(literals.filter((literal) => mayHold(literal))).toEqual(['SK', '\t'])
  })
})
