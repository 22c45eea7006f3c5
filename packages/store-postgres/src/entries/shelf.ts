import type { MemoryScope } from '@recall/core'

/** Which part of the entries table a store works on, and how. */
export interface Shelf {
  /** Owner of the entries. Stores of different tenants share nothing. */
  tenant: string
  archived: boolean
  /** The text search configuration that splits and stems texts; `null` for core's own splitting. */
  textConfiguration: string | null
  /** Most bytes that a place of a scope may hold. */
  quotas: Partial<Record<MemoryScope, number>>
  /** Most bytes that the entries of one answer may hold together. */
  answerBytes: number
}
