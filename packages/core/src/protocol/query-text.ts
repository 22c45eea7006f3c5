import { MemoryError, MemoryErrorCode } from '../errors.ts'
import { maxQueryLength } from '../front/inputs.ts'
import type { AnyGoal } from './types.ts'

/**
 * Shortens and repairs a description so that `search` accepts it.
 *
 * @throws MemoryError INVALID_INPUT when there is no description
 */
export function queryOf(description: string): string {
  if (typeof description === 'string') return description.slice(0, maxQueryLength).toWellFormed()
  throw noDescription()
}

/** @throws MemoryError INVALID_INPUT unless a goal says in words what is to be achieved */
export function checkGoal(goal: AnyGoal): void {
  if (queryOf(goal?.description).trim() === '') throw noDescription()
}

const noDescription = (): MemoryError =>
  new MemoryError(
    'the goal has no description: give it in words, as { description }, because memories are searched by it',
    MemoryErrorCode.INVALID_INPUT,
  )
