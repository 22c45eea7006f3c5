/** The last call under way of each name. Settles when it is over, and never rejects. */
const underWay = new WeakMap<object, Map<string, Promise<unknown>>>()

/**
 * Runs the calls of one name about an object in this process one after the other, so that each finds what those before
 * it did. Calls of other names do not wait. The next one runs also if this one fails.
 */
export async function inTurn<T>(about: object, name: string, call: () => Promise<T>): Promise<T> {
  const last = underWay.get(about) ?? new Map<string, Promise<unknown>>()
  underWay.set(about, last)
  const earlier = last.get(name)
  const own = earlier ? earlier.then(call) : call()
  const over = own.catch(() => undefined)
  last.set(name, over)
  try {
    return await own
  } finally {
    if (last.get(name) === over) last.delete(name)
  }
}
