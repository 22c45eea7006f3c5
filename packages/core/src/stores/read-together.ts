import type { Entry, MemoryStore, Place } from '../memory-store.ts'

/**
 * Makes the `get` of a store that reads many entries for little more than the cost of one: reads of one place that
 * begin at the same moment become one call.
 *
 * @param most keys in one call
 * @param read returns the entry of each key, in the order of the keys, `null` for an absent one
 */
export function readTogether(
  most: number,
  read: (place: Place, keys: readonly string[], now: number) => Promise<readonly (Entry | null)[]>,
): MemoryStore['get'] {
  const begun = new Map<string, { keys: string[]; entries: Promise<readonly (Entry | null)[]> }>()

  const join = ({ namespace, scope }: Place, now: number) => {
    const name = JSON.stringify([namespace, scope, now])
    const known = begun.get(name)
    if (known && known.keys.length < most) return known
    const keys: string[] = []
    const entries = Promise.resolve().then(() => {
      if (begun.get(name) === reads) begun.delete(name)
      return read({ namespace, scope }, keys, now)
    })
    const reads = { keys, entries }
    begun.set(name, reads)
    return reads
  }

  return async (address, now) => {
    const { keys, entries } = join(address, now)
    const position = keys.push(address.key) - 1
    return (await entries)[position] ?? null
  }
}
