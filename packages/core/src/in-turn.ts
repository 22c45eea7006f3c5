/** The last call under way of each name. Settles when it is over, and never rejects. */
const underWay = new WeakMap<object, Map<string, Promise<unknown>>>()

/**
 * Runs calls with the same object and name one after the other within this process, so that each sees what earlier ones
 * did. Calls with other names do not wait. The next call runs even if this one fails.
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
