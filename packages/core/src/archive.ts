import { changedUnderneath } from './conflicts.ts'
import { addressOf, asRead } from './entry-identity.ts'
import { isMemoryError, MemoryError, MemoryErrorCode } from './errors.ts'
import { byOrder } from './found-order.ts'
import { equalJson } from './json.ts'
import type { Address, ColdStore, Entry, Found, MemoryStore, Place, StoreQuery } from './memory-store.ts'

/** The only scope that is archived by age. */
export const archivedScope = 'episodic'

/** Milliseconds since its last write after which an episode is archived. */
export const archiveAfter = 90 * 24 * 60 * 60 * 1000

const pageSize = 100

export interface ArchiveRun {
  archived: string[]
  errors: { key: string; error: unknown }[]
}

/**
 * Moves entries last written before a time to the cold store. Each entry is copied first and then removed,
 * unless it was written meanwhile. After a crash in between both exist: the original hides the copy, and the
 * next run finishes the move. Several runs at once move each entry once.
 */
export async function archiveEntries(
  store: MemoryStore,
  cold: ColdStore,
  place: Place,
  { before, now, dryRun }: { before: number; now: number; dryRun: boolean },
): Promise<ArchiveRun> {
  const run: ArchiveRun = { archived: [], errors: [] }
  // Moved entries leave the list; it goes on behind those that stay. One that somebody removes meanwhile makes it leave
  // out another one, until the next run.
  for (let offset = 0; ; ) {
    const page = await store.find({ ...place, ...oldestFirst, limit: pageSize, offset, now })
    for (const { entry } of page) {
      if (entry.updatedAt >= before) return run
      if (cold.accepts?.(entry) === false) {
        offset++
        continue
      }
      try {
        if (dryRun) offset++
        if (dryRun || (await archiveEntry(store, cold, entry, now))) run.archived.push(entry.key)
      } catch (error) {
        offset++
        run.errors.push({ key: entry.key, error })
      }
    }
    if (page.length < pageSize) return run
  }
}

const oldestFirst = { sortBy: 'recency', sortOrder: 'asc', minScore: 0 } as const

/**
 * An entry that goes between the last look at it and its removal was most likely moved by another run, as runs at once
 * meet at every entry. Its copy stays: what somebody deleted just then stays in the archive, but nothing is lost.
 *
 * @returns `false` when the entry is gone from the store
 */
async function archiveEntry(
  store: MemoryStore,
  cold: ColdStore,
  entry: Entry,
  now: number,
): Promise<boolean> {
  const address = addressOf(entry)
  const copy = await cold.get(address, now)
  // It may have been deleted or written since the page was read. Looked at after the copy, which is an earlier one then.
  const present = await store.get(address, now)
  if (present === null) return false
  if (!isSameVersion(present, entry)) throw changedUnderneath(address)
  if (!isSameVersion(copy, entry)) await putCopy(cold, entry, copy, now)
  try {
    await store.commit([{ remove: address, expected: asRead(entry) }])
    return true
  } catch (error) {
    if (!isMemoryError(error, MemoryErrorCode.CONFLICT)) throw error
    if ((await store.get(address, now)) === null) return false
    // Somebody wrote the entry meanwhile: the copy is out of date.
    await removeCopy(cold, entry)
    throw error
  }
}

const isSameVersion = (copy: Entry | null, entry: Entry): boolean =>
  copy !== null && copy.updatedAt === entry.updatedAt && equalJson(copy.value, entry.value)

/** Puts a copy in the place of an earlier one and of no other: one that came meanwhile may be all there is of a version. */
async function putCopy(cold: ColdStore, entry: Entry, earlier: Entry | null, now: number): Promise<void> {
  const address = addressOf(entry)
  try {
    // A store that serves as the archive would take over the times of an earlier copy.
    if (earlier) await cold.commit([{ remove: address, expected: asRead(earlier) }])
    await cold.put(entry, { overwrite: false, now })
  } catch (error) {
    if (!isMemoryError(error, MemoryErrorCode.CONFLICT)) throw error
    // Another run may have put the same copy.
    if (!isSameVersion(await cold.get(address, now), entry)) throw error
  }
}

/** Removes a copy unless another version has taken its place. */
async function removeCopy(cold: ColdStore, copy: Entry): Promise<void> {
  try {
    await cold.commit([{ remove: addressOf(copy), expected: asRead(copy) }])
  } catch (error) {
    if (!isMemoryError(error, MemoryErrorCode.CONFLICT)) throw error
  }
}

/** Entries of both stores in one order. Where both hold a key, the archived copy is left out. */
export async function findWithArchived(
  store: MemoryStore,
  cold: ColdStore,
  query: StoreQuery,
): Promise<(Found & { archived?: true })[]> {
  const wanted = query.offset + query.limit
  const found: (Found & { archived?: true })[] = await store.find({ ...query, offset: 0, limit: wanted })
  // A clean-up may move an entry to the archive between the two looks.
  const live = new Set(found.map(({ entry }) => entry.key))
  const archived: Found[] = []
  for (let offset = 0; archived.length < wanted; offset += wanted) {
    const page = await cold.find({ ...query, offset, limit: wanted })
    for (const match of page) {
      if (live.has(match.entry.key)) continue
      if ((await store.get(addressOf(match.entry), query.now)) === null) archived.push(match)
    }
    if (page.length < wanted) break
  }
  const all = [...found, ...archived.map((match) => ({ ...match, archived: true as const }))]
  return all.sort(byOrder(query)).slice(query.offset, wanted)
}

/**
 * Removes entries from a store and from its archive. The archived copy goes first: if it went last, a crash in between
 * would make it visible again. It is removed once more at the end, as a clean-up may have archived the entry meanwhile.
 */
export async function removeWithArchived(
  store: MemoryStore,
  { scope }: Place,
  remove: (from: Pick<MemoryStore, 'remove' | 'removeAll'>) => Promise<unknown>,
): Promise<void> {
  const { cold } = store
  if (cold) await remove(cold)
  await remove(store)
  if (cold && scope === archivedScope) await remove(cold)
}

/**
 * Puts an archived entry back, then removes the copy; `now` becomes the time of its last write, so that it is
 * not archived again at once.
 *
 * @returns whether the key was archived
 * @throws MemoryError CONFLICT when the key holds another value by now
 */
export async function restoreEntry(
  store: MemoryStore,
  cold: ColdStore,
  address: Address,
  now: number,
): Promise<boolean> {
  const entry = await cold.get(address, now)
  if (!entry) return false
  const present = await store.get(address, now)
  if (present && !equalJson(present.value, entry.value)) {
    const { scope, key } = address
    throw new MemoryError(
      `'${key}' was written again since it was archived: delete it first, or keep it`,
      MemoryErrorCode.CONFLICT,
      { scope, key },
    )
  }
  if (!present) {
    const expiresAt = entry.ttl === null ? entry.expiresAt : now + entry.ttl
    await store.put({ ...entry, updatedAt: now, accessedAt: now, expiresAt }, { overwrite: false, now })
  }
  await removeCopy(cold, entry)
  return true
}
