import { type Clock, systemClock } from '../clock.ts'
import { isMemoryError, MemoryErrorCode } from '../errors.ts'
import { parseFilter } from '../filter/parse-filter.ts'
import type { CleanupError } from '../memory-manager.ts'
import type { Change, ColdStore, Entry, MemoryStore, Place } from '../memory-store.ts'
import { type MemoryScope, memoryScopes } from '../scope.ts'
import { asRead } from '../stores/entry-identity.ts'
import { createSealer, isEnvelope, type KeyRing, type Sealer } from './encryption.ts'
import { storesByScope } from './stores-by-scope.ts'

export interface RotationOptions {
  /** The stores of the memory. They stay open. */
  stores: MemoryStore | Record<MemoryScope, MemoryStore>
  /** Default `default`. */
  namespace?: string | undefined
  /** The current key encrypts from now on; the ring also holds the keys of the stored values. */
  encryptionKey: KeyRing
  clock?: Clock | undefined
}

export interface RotationResult {
  /** Entries that are now sealed with the current key and were not before. */
  rotated: number
  /** Entries that could not be re-encrypted; they are unchanged. */
  errors: CleanupError[]
}

/**
 * Entries that are read at a time: the first page and the largest. The size doubles after each page that was
 * re-encrypted whole, because a store goes through all its entries for every page.
 */
const firstPage = 50
const largestPage = 800
/** Most entries that are written in one commit. */
const committedAtOnce = 50
/** Attempts at an entry that others keep writing. */
const attempts = 5

/**
 * Re-encrypts with the current key every value that was encrypted with another key of the ring, archive included. It
 * works a few entries at a time: after a crash it can be run again, and writes made meanwhile are kept. Times and
 * access counts do not change. The old keys may be discarded afterwards if `errors` is empty, no process encrypts with
 * them any more, and no write queue holds values encrypted with them: drain the queues first.
 *
 * @throws MemoryError INVALID_INPUT when the ring or the stores are wrong; whatever a store throws when it is searched
 */
export async function rotateEncryption(options: RotationOptions): Promise<RotationResult> {
  const { namespace = 'default', encryptionKey, clock = systemClock } = options
  const sealer = createSealer(encryptionKey)
  const stores = storesByScope(options.stores)
  const result: RotationResult = { rotated: 0, errors: [] }
  for (const scope of memoryScopes) {
    const store = stores[scope]
    const { cold } = store
    const rotate = (from: typeof store | ColdStore, passed: Set<string>): Promise<void> =>
      rotatePlace(from, { namespace, scope }, { sealer, clock, passed }, result)
    const passed = new Set<string>()
    if (cold) await rotate(cold, passed)
    await rotate(store, new Set())
    // Again: the run over the store finds what was restored meanwhile; what was archived meanwhile is found only here.
    if (cold) await rotate(cold, passed)
  }
  return result
}

/** Re-encrypts the entries of one place, and adds the outcome to `result`. */
async function rotatePlace(
  store: Pick<MemoryStore, 'find' | 'get' | 'commit'>,
  place: Place,
  /** `passed`: keys of entries that cannot be re-encrypted and therefore stay in the result list. */
  { sealer, clock, passed }: { sealer: Sealer; clock: Clock; passed: Set<string> },
  result: RotationResult,
): Promise<void> {
  const filter = parseFilter({ encrypted: true, kid: { $ne: sealer.current } })
  const failures = new Map<string, number>()
  const query = { ...place, filter, sortBy: 'recency', sortOrder: 'asc', minScore: 0 } as const

  const rotateAlone = async (entry: Entry): Promise<void> => {
    try {
      if (await rotateEntry(store, entry, sealer, clock())) result.rotated++
      else passed.add(entry.key)
    } catch (error) {
      const failed = (failures.get(entry.key) ?? 0) + 1
      failures.set(entry.key, failed)
      // The entry was written meanwhile: the next page reads it again.
      if (isMemoryError(error, MemoryErrorCode.CONFLICT) && failed < attempts) return
      passed.add(entry.key)
      result.errors.push({ scope: place.scope, key: entry.key, message: (error as Error).message })
    }
  }

  // Re-encrypted entries leave the result list, which shifts the others. So the offset advances only over a page with
  // nothing left to do, and the run ends only after a whole pass that found nothing to do.
  let offset = 0
  let foundAny = false
  let limit = firstPage
  for (;;) {
    const before = result.rotated
    const page = await store.find({ ...query, limit, offset, now: clock() })
    const left = page.filter(({ entry }) => !passed.has(entry.key))
    if (page.length === 0) {
      if (!foundAny) return
      offset = 0
      foundAny = false
    } else if (left.length === 0) offset += page.length
    else foundAny = true
    const entries = left.map(({ entry }) => entry)
    for (const entry of await rotateTogether(store, entries, sealer, clock(), result))
      await rotateAlone(entry)
    if (page.length > 0 && result.rotated - before === page.length) limit = Math.min(limit * 2, largestPage)
  }
}

/**
 * Re-encrypts entries, many in one commit, and counts them in `result`.
 *
 * @returns those that have to be tried one by one
 */
async function rotateTogether(
  store: Pick<MemoryStore, 'get' | 'commit'>,
  entries: readonly Entry[],
  sealer: Sealer,
  now: number,
  result: RotationResult,
): Promise<Entry[]> {
  const left: Entry[] = []
  for (let at = 0; at < entries.length; at += committedAtOnce) {
    const some = entries.slice(at, at + committedAtOnce)
    try {
      const changes = await Promise.all(some.map((entry) => rotated(store, entry, sealer, now)))
      const sealed = changes.filter((change) => change !== null)
      await store.commit(sealed)
      result.rotated += sealed.length
      left.push(...some.filter((_, i) => changes[i] === null))
    } catch {
      // One of them was written meanwhile or cannot be opened, or the store takes fewer at a time.
      left.push(...some)
    }
  }
  return left
}

/** @returns whether there was anything to re-encrypt */
async function rotateEntry(
  store: Pick<MemoryStore, 'get' | 'commit'>,
  entry: Entry,
  sealer: Sealer,
  now: number,
): Promise<boolean> {
  const change = await rotated(store, entry, sealer, now)
  if (change) await store.commit([change])
  return change !== null
}

/**
 * The change that seals an entry with the current key; `null` when its value is not sealed. The entry is read again
 * first, because an access since the page was read may have moved its expiry.
 */
async function rotated(
  store: Pick<MemoryStore, 'get'>,
  found: Entry,
  sealer: Sealer,
  now: number,
): Promise<Change | null> {
  const entry = (await store.get(found, now)) ?? found
  if (!isEnvelope(entry.value)) return null
  const value = await sealer.seal(entry, await sealer.open(entry, entry.value))
  return { put: { ...entry, value }, options: { overwrite: true, now }, expected: asRead(entry) }
}
