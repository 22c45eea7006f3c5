import { MemoryError, MemoryErrorCode, type MemoryScope, memoryScopes } from '@recall/core'

/** Which part of the entries table a store works on, and how. */
export interface Shelf {
  /** Owner of the entries. Stores of different tenants share nothing. */
  tenant: string
  archived: boolean
  /** The text search configuration that splits and stems texts; `null` for core's own splitting. */
  textConfiguration: string | null
  /** Most bytes that a place of a scope may hold, as returned by `wholeQuotas`. */
  quotas: Partial<Record<MemoryScope, number>>
  /** Most bytes that the entries of one answer may hold together. */
  answerBytes: number
}

/**
 * Quotas in the form that Postgres takes: in whole bytes, and left out when there is no limit.
 *
 * @throws MemoryError INVALID_INPUT for a scope that does not exist, and for a value that is not a number of bytes
 */
export function wholeQuotas(quotas: Shelf['quotas']): Shelf['quotas'] {
  const whole: Shelf['quotas'] = {}
  for (const [name, quota] of Object.entries(quotas)) {
    const scope = memoryScopes.find((each) => each === name)
    if (!scope || typeof quota !== 'number' || !(quota >= 0)) {
      throw new MemoryError(
        `quotas.${name} is not valid: a quota is a number of bytes, or Infinity for no limit, for one of ${memoryScopes.join(', ')}`,
        MemoryErrorCode.INVALID_INPUT,
      )
    }
    if (quota <= Number.MAX_SAFE_INTEGER) whole[scope] = Math.floor(quota)
  }
  return whole
}
