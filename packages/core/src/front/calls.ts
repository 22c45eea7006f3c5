import { MemoryError, MemoryErrorCode } from '../errors.ts'
import type { MemoryScope } from '../scope.ts'
import { failingAs } from './failing-as.ts'

/** The calls of one memory, from its opening to its end. */
export interface Calls {
  /**
   * Makes a call, whose failures get `code` unless they have one.
   *
   * @throws MemoryError CLOSED after `close` was called
   */
  make<T>(code: MemoryErrorCode, at: { scope: MemoryScope; key?: string }, call: () => Promise<T>): Promise<T>
  /** Refuses further calls, waits for those under way, and then runs `end`: once, however often it is called. */
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
      // Whoever closes again waits as well, but the failure has been told.
      if (closing !== undefined) return closing.catch(() => undefined)
      closing = Promise.allSettled(underWay).then(end)
      return closing
    },
  }
}
