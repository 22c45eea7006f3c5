import type { MemoryScope } from '@recall/core'
import type { SqlValue } from '../sqlite/driver.ts'

/** Conditions that the database can test; all those given must hold. */
export interface Conditions {
  scope: MemoryScope
  namespace: string
  now: number
  tags: readonly string[]
  /** A condition on rows whose value the index holds. Other rows always fulfil it. */
  narrowing?: RowCondition | undefined
}

/** A condition on rows `d` of `documents`. */
export interface RowCondition {
  text: string
  values: SqlValue[]
}
