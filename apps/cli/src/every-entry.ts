import type { Entry, Filter, Place } from '@recall/core'
import type { FileStore } from '@recall/store-file'

/** An entry as the store keeps it: what is encrypted stays sealed, and needs no key to be listed or removed. */
export type KeptEntry = Entry & { archived?: true }

const pageSize = 500

/** Whose memories lie below a root. */
export const everyNamespace = (store: FileStore): string[] => [
  ...new Set(['default', ...store.index.query((current) => current.namespaces())]),
]

/**
 * Every entry of a place that passes a filter, oldest first, then what is archived; what has expired at `now` is
 * left out.
 */
export async function* everyEntry(
  store: FileStore,
  place: Place,
  { now, filter }: { now: number; filter?: Filter },
): AsyncGenerator<KeptEntry> {
  const query = { ...place, ...(filter ? { filter } : {}), ...oldestFirst, now }
  for (let offset = 0; ; offset += pageSize) {
    const page = await store.find({ ...query, limit: pageSize, offset })
    for (const { entry } of page) yield entry
    if (page.length < pageSize) break
  }
  // The archive reads all of its files each time it is asked.
  for (const { entry } of (await store.cold?.find({ ...query, limit: Number.MAX_SAFE_INTEGER, offset: 0 })) ??
    []) {
    if ((await store.get(entry, now)) === null) yield { ...entry, archived: true }
  }
}

const oldestFirst = { sortBy: 'recency', sortOrder: 'asc', minScore: 0 } as const
