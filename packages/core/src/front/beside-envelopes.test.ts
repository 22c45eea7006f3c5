import fc from 'fast-check'
import { expect, it } from 'vitest'
import { comparisons } from '../filter/filter.ts'
import { matchesFilter } from '../filter/matches-filter.ts'
import { parseFilter } from '../filter/parse-filter.ts'
import { besideEnvelopes } from './beside-envelopes.ts'
import { isEnvelope } from './encryption.ts'

const envelope = { sealed: 'aes-256-gcm', v: 1, kid: 'first', iv: 'AAAA', data: 'AAAA' }
const member = fc.constantFrom(...Object.keys(envelope), 'key', 'other')
const operand = fc.constantFrom(1, 'first', 'AAAA', 'aes-256-gcm', true, false)
const condition = fc
  .record({ member, operator: fc.constantFrom(...comparisons), operand })
  .map(({ member, operator, operand }) => {
    const isList = ['in', 'nin', 'overlap'].includes(operator)
    if (operator === 'exists') return { [member]: { exists: operand === true } }
    if (['gt', 'gte', 'lt', 'lte'].includes(operator)) return { [member]: { [operator]: String(operand) } }
    return { [member]: { [operator]: isList ? [operand] : operand } }
  })
const filters = fc.oneof(
  condition,
  condition.map((one) => ({ $not: one })),
  fc.tuple(condition, condition).map((both) => ({ $or: both })),
  fc.tuple(condition, condition).map((both) => ({ $and: both })),
)
const metadata = { key: 'first' }
const plain = fc.dictionary(member, operand)

it('finds of an encrypted value what it would find of one without members', () => {
  fc.assert(
    fc.property(filters, (given) => {
      const filter = parseFilter(given)
      const found = matchesFilter(besideEnvelopes(filter), { value: envelope, metadata })
      expect(found).toBe(matchesFilter(filter, { value: {}, metadata }))
    }),
  )
})

it('finds of every other value what the filter finds', () => {
  fc.assert(
    fc.property(filters, plain, (given, value) => {
      fc.pre(!isEnvelope(value))
      const filter = parseFilter(given)
      const found = matchesFilter(besideEnvelopes(filter), { value, metadata })
      expect(found).toBe(matchesFilter(filter, { value, metadata }))
    }),
  )
})
