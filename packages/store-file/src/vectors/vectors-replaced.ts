import { MemoryError, MemoryErrorCode } from '@recall/core'

/** Another process has put other vectors in the place of those that were being read. */
export class VectorsReplaced extends MemoryError {
  constructor() {
    super(
      'another process makes the vectors of this memory anew: try again in a moment',
      MemoryErrorCode.UNAVAILABLE,
    )
  }
}

/** Vectors are made anew by rebuilds alone, so they are not replaced often while one look is taken. */
const attempts = 5

/** Takes a look at vectors, and another one if they were replaced meanwhile; `forget` lets go of those known. */
export function unlessReplaced<T>(look: () => T, forget: () => void = () => {}): T {
  for (let attempt = 1; ; attempt++) {
    try {
      return look()
    } catch (error) {
      if (!(error instanceof VectorsReplaced) || attempt === attempts) throw error
      forget()
    }
  }
}
