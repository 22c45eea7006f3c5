import { MemoryError, MemoryErrorCode } from '../errors.ts'
import { maxQueryLength } from '../front/inputs.ts'

/**
 * Shortens and repairs a description so that `search` accepts it.
 *
 * @throws MemoryError INVALID_INPUT when there is none
 */
export function queryOf(description: string): string {
  if (typeof description === 'string') return description.slice(0, maxQueryLength).toWellFormed()
  throw new MemoryError(
    'the goal has no description: give it in words, as { description }, because memories are searched by it',
    MemoryErrorCode.INVALID_INPUT,
  )
}
