import type { Io } from './io.ts'

/** Tells whether a command has printed a result: what fails before that can still be answered in another way. */
export function watchOutput(io: Io): { watched: Io; isAnswered: () => boolean } {
  let isAnswered = false
  const out = (text: string): void => {
    isAnswered = true
    io.out(text)
  }
  // Copies getters as such: what they read is costly, and may never be needed.
  const watched: Io = Object.defineProperties({} as Io, {
    ...Object.getOwnPropertyDescriptors(io),
    out: { value: out, enumerable: true },
  })
  return { watched, isAnswered: () => isAnswered }
}
