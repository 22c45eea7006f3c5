/** Makes a value when it is first asked for. A pattern of Unicode properties takes a millisecond to build. */
export function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
