import type { Comparison, Filter } from '../filter/filter.ts'
import type { Envelope } from './encryption.ts'

const members: readonly string[] = ['sealed', 'v', 'kid', 'iv', 'data'] satisfies (keyof Envelope)[]

const compare = (member: keyof Envelope, operator: Comparison, operand: string): Filter => ({
  kind: 'compare',
  path: [member],
  operator,
  operand,
})
/** The same test as `isEnvelope`. Only strings compare with the empty string, so `gte ''` means "is a string". */
const isSealed: Filter = {
  kind: 'all',
  filters: [
    compare('sealed', 'eq', 'aes-256-gcm'),
    ...(['kid', 'iv', 'data'] as const).map((member) => compare(member, 'gte', '')),
  ],
}

/**
 * A filter that finds no encrypted entry by the contents of its envelope: it treats the envelope's members as absent.
 */
export function besideEnvelopes(filter: Filter): Filter {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return { ...filter, filters: filter.filters.map(besideEnvelopes) }
    case 'not':
      return { ...filter, filter: besideEnvelopes(filter.filter) }
    // No member of an envelope is a list.
    case 'element':
      return filter
    case 'compare':
      if (!members.includes(filter.path[0] ?? '')) return filter
      return passesAbsent(filter)
        ? { kind: 'any', filters: [filter, isSealed] }
        : { kind: 'all', filters: [filter, { kind: 'not', filter: isSealed }] }
  }
}

/** Whether a comparison holds for an absent member. */
const passesAbsent = ({ operator, operand }: Filter & { kind: 'compare' }): boolean =>
  operator === 'ne' || operator === 'nin' || (operator === 'exists' && operand === false)
