import { isMemoryError, MemoryError, MemoryErrorCode, messageOf } from '../errors.ts'
import { equalJson } from '../json.ts'
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
import { addressOf, asRead } from '../stores/entry-identity.ts'
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

/**
 * Where both stores hold a key, the archived copy is left out. What moves between them meanwhile is in one of the looks
 * at least.
 */
async function findInBoth(store: MemoryStore, cold: ColdStore, query: StoreQuery): Promise<FoundAnywhere[]> {
  const wanted = query.offset + query.limit
  const findLive = (): Promise<FoundAnywhere[]> => store.find({ ...query, offset: 0, limit: wanted })
  const before = await store.stats(query)
  const first = await findLive()
  const archived = await findArchivedOnly(store, cold, { ...query, limit: wanted })
  const after = await store.stats(query)
  const isUnchanged = after.entries === before.entries && after.bytes === before.bytes
  const live = isUnchanged ? first : await findLive()
  const found = new Map([...archived, ...live].map((match) => [match.entry.key, match]))
  const missing = first.filter(({ entry }) => !found.has(entry.key))
  const all = [...found.values(), ...(await findMoved(store, cold, missing, query.now))]
  return all.sort(byOrder(query)).slice(query.offset, wanted)
}

/** What is left of matches that a later search of their store did not return: they may have been archived. */
async function findMoved(
  store: MemoryStore,
  cold: ColdStore,
  matches: readonly FoundAnywhere[],
  now: number,
): Promise<FoundAnywhere[]> {
  const left: FoundAnywhere[] = []
  for (let i = 0; i < matches.length; i += readsAtOnce) {
    const some = matches.slice(i, i + readsAtOnce)
    const held = await Promise.all(some.map(({ entry }) => getAnywhere(store, cold, addressOf(entry), now)))
    for (const [j, match] of some.entries()) {
      const { entry, archived } = held[j] ?? {}
      if (entry) left.push({ ...match, entry, ...(archived ? { archived } : {}) })
    }
  }
  return left
}

/** An entry of a store or, if it holds none under the key, of an archive. */
export async function getAnywhere(
  store: Pick<MemoryStore, 'get'>,
  cold: ColdStore | undefined,
  address: Address,
  now: number,
): Promise<{ entry: Entry | null; archived?: true }> {
  const kept = await store.get(address, now)
  if (kept || !cold) return { entry: kept }
  const archived = await cold.get(address, now)
  if (archived) return { entry: archived, archived: true }
  // It may have been restored between the two reads.
  return { entry: await store.get(address, now) }
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
 * changes. Other copies are the only ones of their key: they are removed last, once the changes are made, and from the
 * store if they were restored meanwhile.
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
  const copies = scope === archivedScope ? await copiesOf(store, cold, removals, now) : []
  const hidden = copies.filter(({ isHidden }) => isHidden).map(({ copy }) => copy)
  try {
    if (hidden.length > 0) await cold.commit(hidden.map((remove) => ({ remove })))
    await store.commit(changes)
  } catch (error) {
    const failures = await putBack(cold, hidden, now)
    throw failures.length > 0 ? withFailures(error, failures) : error
  }
  if (scope !== archivedScope) return
  const others = copies.filter(({ isHidden }) => !isHidden).map(({ copy }) => copy)
  await forgetCopies(removals, async () => {
    await cold.commit(removals)
    // A clean-up may have moved them again.
    if (await removeRestored(store, others, now)) await cold.commit(removals)
  })
}

/** @throws MemoryError with the code of the archive's failure: everything else has been done */
async function forgetCopies(
  removals: readonly { remove: Address }[],
  forget: () => Promise<void>,
): Promise<void> {
  try {
    await forget()
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

/** Removes entries that came back from the archive after their keys were deleted. */
async function removeRestored(store: MemoryStore, copies: readonly Entry[], now: number): Promise<boolean> {
  let isAny = false
  for (const copy of copies) {
    const live = await store.get(copy, now)
    // What was written under the key since is another entry.
    if (live?.createdAt !== copy.createdAt || !equalJson(live.value, copy.value)) continue
    try {
      await store.commit([{ remove: addressOf(live), expected: asRead(live) }])
    } catch (error) {
      if (!isMemoryError(error, MemoryErrorCode.CONFLICT)) throw error
    }
    isAny = true
  }
  return isAny
}

/** The archived copies of what is removed, and whether the store holds an entry under the same key. */
async function copiesOf(
  store: MemoryStore,
  cold: ColdStore,
  removals: readonly { remove: Address }[],
  now: number,
): Promise<{ copy: Entry; isHidden: boolean }[]> {
  const copyOf = async ({ remove }: { remove: Address }) => {
    const copy = await cold.get(remove, now)
    return copy && { copy, isHidden: (await store.get(remove, now)) !== null }
  }
  const copies: { copy: Entry; isHidden: boolean }[] = []
  for (let i = 0; i < removals.length; i += readsAtOnce) {
    const some = await Promise.all(removals.slice(i, i + readsAtOnce).map(copyOf))
    copies.push(...some.filter((each) => each !== null))
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
