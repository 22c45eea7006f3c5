import { isMemoryError, MemoryErrorCode } from '../errors.ts'
import { jsonBytes } from '../json.ts'
import type { Entry, Found, MemoryStore, Place } from '../memory-store.ts'
import { sessionSummaryType, windowNotesKey } from '../session-keys.ts'
import { addressOf, asRead } from '../stores/entry-identity.ts'

/**
 * Entries that are read and removed at a time: the first page and the largest. Pages double in size, because a store
 * sorts all its entries for every page.
 */
const firstPage = 100
const largestPage = 1600

const nextPage = (size: number): number => Math.min(size * 2, largestPage)

/**
 * Removes the least recently used entries until at most `target` bytes are kept; with `dryRun` only counts them. An
 * entry that is written meanwhile stays, and so does the window, into which a person may have written. Concurrent
 * evictions together remove no more than one would.
 *
 * @param options.spared keys of entries that stay
 * @returns how many were removed
 */
export async function evictLeastRecent(
  store: MemoryStore,
  place: Place,
  target: number,
  { now, dryRun = false, spared = [] }: { now: number; dryRun?: boolean; spared?: readonly string[] },
): Promise<number> {
  // The statistics count expired entries. A real run swept them before, a dry run did not: it counts live ones itself.
  let bytes = dryRun ? await liveBytes(store, place, now) : (await store.stats(place)).bytes
  let evicted = 0
  let seen = 0
  const kept = new Set([windowNotesKey, ...spared])
  for (let pageSize = firstPage; bytes > target; pageSize = nextPage(pageSize)) {
    // Evicted entries leave the result list, so a real run always reads from its start.
    const offset = dryRun ? seen : 0
    const limit = pageSize + kept.size
    const list = await store.find({ ...place, ...unusedFirst, limit, offset, now })
    seen += list.length
    // Measured after reading the entries: otherwise each of several concurrent evictions would remove the whole excess.
    if (!dryRun) bytes = (await store.stats(place)).bytes
    keepSessions(list, kept)
    const page = list.filter(({ entry }) => !kept.has(entry.key))
    if (page.length === 0 && list.length < limit) break
    const chosen = firstOf(page, bytes - target)
    const removed = dryRun ? chosen : await removeUnchanged(store, chosen)
    for (const entry of removed) bytes -= jsonBytes(entry.value)
    for (const entry of chosen) if (!removed.includes(entry)) kept.add(entry.key)
    evicted += removed.length
  }
  return evicted
}

/** Adds the keys of the window's sessions to those that stay. */
function keepSessions(list: readonly Found[], kept: Set<string>): void {
  for (const { entry } of list) if (entry.type === sessionSummaryType) kept.add(entry.key)
}

/** The first entries that together hold this many bytes, or all. */
function firstOf(page: readonly Found[], bytes: number): Entry[] {
  const chosen: Entry[] = []
  let left = bytes
  for (const { entry } of page) {
    if (left <= 0) break
    left -= jsonBytes(entry.value)
    chosen.push(entry)
  }
  return chosen
}

async function liveBytes(store: MemoryStore, place: Place, now: number): Promise<number> {
  let bytes = 0
  for (let offset = 0, pageSize = firstPage; ; offset += pageSize, pageSize = nextPage(pageSize)) {
    const page = await store.find({ ...place, ...unusedFirst, limit: pageSize, offset, now })
    for (const { entry } of page) bytes += jsonBytes(entry.value)
    if (page.length < pageSize) return bytes
  }
}

const unusedFirst = { sortBy: 'lastAccess', sortOrder: 'asc', minScore: 0 } as const

/**
 * Removes all entries in one commit, or in smaller ones when some were written meanwhile or the commit would be too
 * large; returns those removed.
 */
async function removeUnchanged(store: MemoryStore, entries: readonly Entry[]): Promise<readonly Entry[]> {
  const changes = entries.map((entry) => ({ remove: addressOf(entry), expected: asRead(entry) }))
  try {
    await store.commit(changes)
    return entries
  } catch (error) {
    const isWritten = isMemoryError(error, MemoryErrorCode.CONFLICT)
    // A removal cannot exceed a quota. A hub answers this when the call is too large, because the values are sent
    // along.
    const isTooLarge = isMemoryError(error, MemoryErrorCode.QUOTA_EXCEEDED) && entries.length > 1
    if (!isWritten && !isTooLarge) throw error
    if (entries.length === 1) return []
    const half = entries.length >> 1
    const removed = await removeUnchanged(store, entries.slice(0, half))
    return [...removed, ...(await removeUnchanged(store, entries.slice(half)))]
  }
}
