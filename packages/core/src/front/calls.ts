import { MemoryError, MemoryErrorCode } from '../errors.ts'
import type { MemoryScope } from '../scope.ts'
import { failingAs } from './failing-as.ts'

/** The calls of one memory, from open to close. */
export interface Calls {
  /**
   * Makes a call. A failure without a code gets `code`.
   *
   * @throws MemoryError CLOSED after `close` was called
   */
  make<T>(code: MemoryErrorCode, at: { scope: MemoryScope; key?: string }, call: () => Promise<T>): Promise<T>
  /**
   * Refuses further calls, waits for those under way, and then runs `end`, only once however often `close` is called.
   */
  close(end: () => Promise<void>): Promise<void>
}

export function createCalls(): Calls {
  const underWay = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  return {
    async make(code, at, call) {
      if (closing !== undefined)
        throw new MemoryError('this memory is closed: open it again', MemoryErrorCode.CLOSED)
      const answer = failingAs(code, at, call)
      underWay.add(answer)
      try {
        return await answer
      } finally {
        underWay.delete(answer)
      }
    },

    close(end) {
      // A second `close` waits too, but the first has already reported the failure.
      if (closing !== undefined) return closing.catch(() => undefined)
      closing = Promise.allSettled(underWay).then(end)
      return closing
    },
  }
}
