import type { Io } from './io.ts'

/** Reports whether a command has printed a result: a failure before that can still be answered in another way. */
export function watchOutput(io: Io): { watched: Io; isAnswered: () => boolean } {
  let isAnswered = false
  const out = (text: string): void => {
    isAnswered = true
    io.out(text)
  }
  // Copies getters as such: computing their value is costly, and may never be needed.
  const watched: Io = Object.defineProperties({} as Io, {
    ...Object.getOwnPropertyDescriptors(io),
    out: { value: out, enumerable: true },
  })
  return { watched, isAnswered: () => isAnswered }
}
