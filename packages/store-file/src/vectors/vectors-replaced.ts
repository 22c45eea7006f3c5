import { MemoryError, MemoryErrorCode } from '@recall/core'
import { pause } from '@recall/core/process'

/** Another process has replaced the vectors that were being read. */
export class VectorsReplaced extends MemoryError {
  constructor() {
    super(
      'another process is making the vectors of this memory again: try again in a moment',
      MemoryErrorCode.UNAVAILABLE,
    )
  }
}

/** Only rebuilds replace vectors, so this rarely happens more than once during one read. */
const attempts = 8

/** Reads vectors, and reads again if they were replaced meanwhile; `forget` drops what is known of the old ones. */
export function unlessReplaced<T>(look: () => T, forget: () => void = () => {}): T {
  for (let attempt = 1; ; attempt++) {
    try {
      return look()
    } catch (error) {
      if (!(error instanceof VectorsReplaced) || attempt === attempts) throw error
      forget()
      // Two processes that rebuild at once would otherwise keep replacing each other's vectors.
      pause(2 ** attempt)
    }
  }
}
