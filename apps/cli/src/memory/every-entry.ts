import type { Entry, Filter, Place } from '@recall/core'
import { archivedNamespaces, defaultFileSystem, type FileStore } from '@recall/store-file'

/** An entry as the store keeps it. Encrypted values stay sealed: listing and removing them needs no key. */
export type KeptEntry = Entry & { archived?: true }

const pageSize = 500

/** The namespaces below a root: `default`, and all others that hold entries, archived ones included. */
export const everyNamespace = (store: FileStore): string[] => [
  ...new Set([
    'default',
    ...store.index.query((current) => current.namespaces()),
    ...archivedNamespaces(defaultFileSystem, store),
  ]),
]

/**
 * Yields every entry of a place that passes a filter, oldest first, then the archived ones; leaves out entries that
 * have expired at `now`.
 */
export async function* everyEntry(
  store: FileStore,
  place: Place,
  { now, filter }: { now: number; filter?: Filter },
): AsyncGenerator<KeptEntry> {
  const query = { ...place, ...(filter ? { filter } : {}), ...oldestFirst, now }
  const pageAt = async (offset: number): Promise<Entry[]> =>
    (await store.find({ ...query, limit: pageSize, offset })).map(({ entry }) => entry)
  const seen = new Set<string>()
  let last: string | undefined
  for (let offset = 0; ; offset += pageSize - 1) {
    let page = await pageAt(offset)
    // Entries that others write or delete meanwhile leave their place, and all entries after them move up.
    while (offset > 0 && !page.some(({ key }) => key === last)) {
      offset = Math.max(0, offset - pageSize)
      page = await pageAt(offset)
    }
    for (const entry of page.filter(({ key }) => !seen.has(key))) {
      seen.add(entry.key)
      yield entry
    }
    last = page.at(-1)?.key
    if (page.length < pageSize) break
  }
  // Every query reads all files of the archive, so it is read in one page.
  for (const { entry } of (await store.cold?.find({ ...query, limit: Number.MAX_SAFE_INTEGER, offset: 0 })) ??
    []) {
    if ((await store.get(entry, now)) === null) yield { ...entry, archived: true }
  }
}

const oldestFirst = { sortBy: 'recency', sortOrder: 'asc', minScore: 0 } as const
