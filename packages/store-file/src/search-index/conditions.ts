import type { MemoryScope } from '@recall/core'
import type { SqlValue } from '../sqlite/driver.ts'

/** Conditions that the database can test; all that are given must hold. */
export interface Conditions {
  scope: MemoryScope
  namespace: string
  now: number
  tags: readonly string[]
  /** A condition of rows whose value the index holds. Rows of other values always fulfil it. */
  narrowing?: RowCondition | undefined
}

/** A condition on rows `d` of `documents`. */
export interface RowCondition {
  text: string
  values: SqlValue[]
}
