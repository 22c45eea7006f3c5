/** The last call of each name that waits or runs, by the memory that it is about. */
const lastCalls = new WeakMap<object, Map<string, Promise<unknown>>>()

/** Runs the calls of one name on a memory one after the other, in the order in which they were made. */
export async function inTurn<T>(memory: object, name: string, call: () => Promise<T>): Promise<T> {
  const last = lastCalls.get(memory) ?? new Map<string, Promise<unknown>>()
  lastCalls.set(memory, last)
  const own = (last.get(name) ?? Promise.resolve()).then(call)
  // The next one runs also if this one fails.
  const ended = own.catch(() => undefined)
  last.set(name, ended)
  try {
    return await own
  } finally {
    if (last.get(name) === ended) last.delete(name)
  }
}
