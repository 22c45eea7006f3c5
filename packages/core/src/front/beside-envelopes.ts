import type { Comparison, Filter } from './filter.ts'

/** The members of `Envelope`. */
const members = ['sealed', 'v', 'kid', 'iv', 'data']

const compare = (member: string, operator: Comparison, operand: string | boolean): Filter => ({
  kind: 'compare',
  path: [member],
  operator,
  operand,
})
/** What `isEnvelope` says: no other value is kept that has these members. */
const isSealed: Filter = {
  kind: 'all',
  filters: [
    compare('sealed', 'eq', 'aes-256-gcm'),
    ...['kid', 'iv', 'data'].map((member) => compare(member, 'exists', true)),
  ],
}

/** A filter that finds no encrypted entry by what its envelope holds: as if that had no members. */
export function besideEnvelopes(filter: Filter): Filter {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return { ...filter, filters: filter.filters.map(besideEnvelopes) }
    case 'not':
      return { ...filter, filter: besideEnvelopes(filter.filter) }
    // A member of an envelope is no list.
    case 'element':
      return filter
    case 'compare':
      if (!members.includes(filter.path[0] ?? '')) return filter
      return passesAbsent(filter)
        ? { kind: 'any', filters: [filter, isSealed] }
        : { kind: 'all', filters: [filter, { kind: 'not', filter: isSealed }] }
  }
}

/** Whether a comparison holds where there is no such member. */
const passesAbsent = ({ operator, operand }: Filter & { kind: 'compare' }): boolean =>
  operator === 'ne' || operator === 'nin' || (operator === 'exists' && operand === false)
