import { isMemoryError, MemoryError, MemoryErrorCode, messageOf } from '../errors.ts'
import type {
  Address,
  ArchiveRun,
  Change,
  ColdStore,
  Entry,
  Found,
  MemoryStore,
  Place,
  StoreQuery,
} from '../memory-store.ts'
import { type Basis, confidenceOf, confidenceRank } from '../ranking/confidence.ts'
import { conversationType } from '../session-keys.ts'
import { addressOf } from '../stores/entry-identity.ts'
import { byOrder } from '../stores/found-order.ts'

/** The only scope that is archived by age. */
export const archivedScope = 'episodic'

/** Milliseconds since its last write after which an episode is archived. */
export const archiveAfter = 90 * 24 * 60 * 60 * 1000

const readsAtOnce = 64

/** A match of a store or of its archive. */
export type FoundAnywhere = Found & { archived?: true }

/** Entries of both stores in one order. Each confidence follows from the score among the matches of both. */
export async function findWithArchived(
  store: MemoryStore,
  cold: ColdStore,
  query: StoreQuery,
): Promise<FoundAnywhere[]> {
  const page = await findInBoth(store, cold, query)
  if (query.text === undefined || page.length === 0) return page
  const { tenth, basis } = await bestOfBoth(store, cold, query)
  return page.map(({ passage, passages, ...match }) => {
    const sure = <Part extends { score?: number }>(part: Part) => ({
      ...part,
      // A passage without its own score has that of its match.
      confidence: confidenceOf(part.score ?? match.score, tenth, basis),
    })
    return {
      ...sure(match),
      ...(passage ? { passage: sure(passage) } : {}),
      ...(passages ? { passages: passages.map(sure) } : {}),
    }
  })
}

/**
 * The score of the tenth unit of both stores together, 0 when there are fewer, and the basis of the best one: an
 * archive may keep no vectors.
 */
async function bestOfBoth(
  store: MemoryStore,
  cold: ColdStore,
  query: StoreQuery,
): Promise<{ tenth: number; basis: Basis }> {
  const best = await findInBoth(store, cold, {
    ...query,
    sortBy: 'relevance',
    sortOrder: 'desc',
    minScore: 0,
    offset: 0,
    limit: confidenceRank,
    passages: confidenceRank,
  })
  const scores = best.flatMap(({ passages = [] }) => passages.map(({ score = 0 }) => score))
  const tenth = scores.sort((a, b) => b - a)[confidenceRank - 1] ?? 0
  const isTurn = best[0]?.entry.type === conversationType
  const hasMeaning = best[0]?.mode === 'hybrid'
  return { tenth, basis: { kind: isTurn ? 'turn' : 'note', by: hasMeaning ? 'meaning' : 'words' } }
}

/** Where both stores hold a key, the archived copy is left out. */
async function findInBoth(store: MemoryStore, cold: ColdStore, query: StoreQuery): Promise<FoundAnywhere[]> {
  const wanted = query.offset + query.limit
  const findLive = (): Promise<FoundAnywhere[]> => store.find({ ...query, offset: 0, limit: wanted })
  const before = await store.stats(query)
  const found = await findLive()
  const archived = await findArchivedOnly(store, cold, { ...query, limit: wanted })
  const after = await store.stats(query)
  const isUnchanged = after.entries === before.entries && after.bytes === before.bytes
  // An entry restored between the two searches would be in neither result,
  const live = isUnchanged ? found : await findLive()
  // and one archived between them would be in both.
  const keys = new Set(live.map(({ entry }) => entry.key))
  const all = [...live, ...archived.filter(({ entry }) => !keys.has(entry.key))]
  return all.sort(byOrder(query)).slice(query.offset, wanted)
}

/** The first matches of an archive, without those whose key the store holds as well. */
async function findArchivedOnly(
  store: MemoryStore,
  cold: ColdStore,
  query: StoreQuery,
): Promise<FoundAnywhere[]> {
  const { limit, now } = query
  const archived: FoundAnywhere[] = []
  for (let offset = 0; archived.length < limit; offset += limit) {
    const page = await cold.find({ ...query, offset })
    for (let i = 0; i < page.length; i += readsAtOnce) {
      const some = page.slice(i, i + readsAtOnce)
      const hiding = await Promise.all(some.map(({ entry }) => store.get(addressOf(entry), now)))
      for (const [j, match] of some.entries())
        if (hiding[j] === null) archived.push({ ...match, archived: true })
    }
    if (page.length < limit) break
  }
  return archived
}

/**
 * Removes entries from a store and from its archive. The archived copy goes first: if it went last, a crash in between
 * would make it visible again. It is removed once more at the end, because a clean-up may have moved the entry
 * meanwhile.
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
 * Applies changes to a store, all or none, and removes the archived copies of what they remove. Copies that an entry of
 * the store hides are removed first, as in `removeWithArchived`, and put back when the store or the archive refuses the
 * changes. Other copies are the only ones of their key: they are removed last, once the changes are made.
 */
export async function commitWithArchived(
  store: MemoryStore,
  { scope }: Place,
  changes: readonly Change[],
  now: number,
): Promise<void> {
  const removals = changes.flatMap((change) => ('put' in change ? [] : { remove: change.remove }))
  const { cold } = store
  if (!cold || removals.length === 0) return store.commit(changes)
  const copies = scope === archivedScope ? await hiddenCopies(store, cold, removals, now) : []
  try {
    if (copies.length > 0) await cold.commit(copies.map((remove) => ({ remove })))
    await store.commit(changes)
  } catch (error) {
    const failures = await putBack(cold, copies, now)
    throw failures.length > 0 ? withFailures(error, failures) : error
  }
  if (scope === archivedScope) await forgetCopies(cold, removals)
}

/** @throws MemoryError with the code of the archive's failure: everything else has been done */
async function forgetCopies(cold: ColdStore, removals: readonly { remove: Address }[]): Promise<void> {
  try {
    await cold.commit(removals)
  } catch (cause) {
    const code = isMemoryError(cause) ? cause.code : MemoryErrorCode.WRITE_FAILED
    const keys = removals.map(({ remove }) => remove.key)
    throw new MemoryError(
      'the updates were made, but what they delete may still be in the archive: delete it again',
      code,
      { scope: archivedScope, details: { keys }, cause },
    )
  }
}

/** The archived copies of entries that the store holds itself. */
async function hiddenCopies(
  store: MemoryStore,
  cold: ColdStore,
  removals: readonly { remove: Address }[],
  now: number,
): Promise<Entry[]> {
  const hidden = async ({ remove }: { remove: Address }): Promise<Entry | null> => {
    const copy = await cold.get(remove, now)
    return copy && (await store.get(remove, now)) ? copy : null
  }
  const copies: Entry[] = []
  for (let i = 0; i < removals.length; i += readsAtOnce) {
    const some = await Promise.all(removals.slice(i, i + readsAtOnce).map(hidden))
    copies.push(...some.filter((copy) => copy !== null))
  }
  return copies
}

/** @returns the keys of the copies that could not be put into the archive again, and why */
async function putBack(
  cold: ColdStore,
  copies: readonly Entry[],
  now: number,
): Promise<ArchiveRun['errors']> {
  const failures: ArchiveRun['errors'] = []
  for (const copy of copies) {
    try {
      await cold.put(copy, { overwrite: false, now })
    } catch (error) {
      // A clean-up may have archived a newer version meanwhile.
      if (isMemoryError(error, MemoryErrorCode.CONFLICT)) continue
      failures.push({ key: copy.key, message: messageOf(error) })
    }
  }
  return failures
}

/** The store's error, with `details.errors` naming the copies that may be gone from the archive. */
function withFailures(error: unknown, errors: ArchiveRun['errors']): MemoryError {
  const told = isMemoryError(error) ? error : new MemoryError(messageOf(error), MemoryErrorCode.WRITE_FAILED)
  return new MemoryError(
    `${told.message}; older copies of ${errors.length} of the keys may be gone from the archive`,
    told.code,
    { scope: archivedScope, ...told, details: { ...told.details, errors }, cause: error },
  )
}
