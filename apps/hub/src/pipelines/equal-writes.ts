import type { Database } from '@recall/store-postgres'

/** The last write under way of each content. Settles when it is over, and never rejects. */
const underWay = new WeakMap<Database, Map<string, Promise<unknown>>>()

/**
 * Runs writes of the same content in this process one after the other, so that each finds those before it: at the same
 * moment, none would be a copy. Other writes do not wait. An advisory lock, for the hubs of other processes as well,
 * would take a round trip of every write.
 */
export async function inTurn<T>(database: Database, content: string, write: () => Promise<T>): Promise<T> {
  const writes = underWay.get(database) ?? new Map<string, Promise<unknown>>()
  underWay.set(database, writes)
  const earlier = writes.get(content)
  const written = earlier ? earlier.then(write) : write()
  const over = written.catch(() => undefined)
  writes.set(content, over)
  try {
    return await written
  } finally {
    if (writes.get(content) === over) writes.delete(content)
  }
}
