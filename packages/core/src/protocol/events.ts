import { type Clock, systemClock } from '../clock.ts'
import { isMemoryError, type MemoryErrorCode } from '../errors.ts'
import type { MemoryManager, ValueTypes } from '../memory-manager.ts'
import { invalidInput } from '../parse-input.ts'
import { tell } from '../tell.ts'
import { countOf, type Operation, wrapOperations } from './operations.ts'

/** One finished call. Holds no value and no text of a memory or a query. */
export interface MemoryEvent extends Omit<Operation, 'arguments'> {
  startedAt: number
  /** Milliseconds. */
  duration: number
  /** Number of entries in the answer. */
  count?: number
  /** Code of the failure, if it failed; `unknown` when the error is not a `MemoryError`. */
  error?: MemoryErrorCode | 'unknown'
}

/**
 * Wraps a memory so that `onEvent` is called when a call ends. Errors of the listener are ignored: they must not change
 * what the memory answers.
 *
 * @throws MemoryError INVALID_INPUT for what is no memory, listener or clock
 */
export function observeMemory<Schemas extends ValueTypes>(
  memory: MemoryManager<Schemas>,
  onEvent: (event: MemoryEvent) => void,
  clock: Clock = systemClock,
): MemoryManager<Schemas> {
  for (const [name, given] of Object.entries({ onEvent, clock }))
    if (typeof given !== 'function') throw invalidInput(name, [{ path: [], message: 'must be a function' }])
  return wrapOperations(memory, async ({ arguments: _, ...operation }, run) => {
    const startedAt = clock()
    try {
      const answer = await run()
      const count = countOf(operation.name, answer)
      void tell(onEvent, {
        ...operation,
        startedAt,
        duration: clock() - startedAt,
        ...(count === undefined ? {} : { count }),
      })
      return answer
    } catch (error) {
      const code = isMemoryError(error) ? error.code : 'unknown'
      void tell(onEvent, { ...operation, startedAt, duration: clock() - startedAt, error: code })
      throw error
    }
  })
}
