import type { Clock } from '../clock.ts'
import { MemoryError, MemoryErrorCode } from '../errors.ts'
import { jsonBytes } from '../json.ts'
import type { Address, Entry, MemoryStore, Place } from '../memory-store.ts'
import type { MemoryScope } from '../scope.ts'
import { evictLeastRecent } from './eviction.ts'

const megabyte = 1024 * 1024

/** Bytes that the values of each scope may take together, as compact JSON. */
export const defaultQuotas: Readonly<Record<MemoryScope, number>> = {
  working: 10 * megabyte,
  'short-term': 100 * megabyte,
  'long-term': 1024 * megabyte,
  episodic: 10 * 1024 * megabyte,
}

/** The only scope that is ever evicted: entries of the other scopes are meant to stay. */
export const evictedScope: MemoryScope = 'short-term'

/** Share of the quota that eviction leaves in use. */
export const evictionThreshold = 0.8

/** Milliseconds for which a measurement is trusted, because other processes may write meanwhile. */
const trustedForMs = 5000

/** Entries that are read at once: a store may read them in one call. */
const readAtOnce = 100

/**
 * Runs a write while room is reserved for what it puts.
 *
 * @throws MemoryError QUOTA_EXCEEDED before the write begins, when there is no room
 */
export type WithinQuota = <T>(
  puts: readonly Entry[],
  removed: readonly Address[],
  write: () => Promise<T>,
) => Promise<T>

export interface QuotaOptions {
  store: MemoryStore
  place: Place
  /** Bytes. */
  quota: number
  clock: Clock
}

/**
 * Keeps one place within its quota. The store is measured at the first write, and again after five seconds or when
 * the writes of this process might fill the quota. In between only the sizes of writes are added up, which never
 * underestimates this process. Other processes' writes of the last five seconds may exceed the quota by their size.
 */
export function createQuota({ store, place, quota, clock }: QuotaOptions): WithinQuota {
  /** Upper bound of the bytes in use, including writes under way, as far as this process knows. */
  let used = Number.POSITIVE_INFINITY
  let measuredAt = Number.NEGATIVE_INFINITY
  let underWay = 0
  /** Bytes ever reserved: the difference shows what was added while a measurement ran. */
  let reserved = 0
  /** Bytes that remain, by key, of entries whose room was already given to a write under way. */
  const leaving = new Map<string, { bytes: number }>()
  let turn: Promise<unknown> = Promise.resolve()

  const measure = async (): Promise<void> => {
    const before = reserved - underWay
    const { bytes } = await store.stats(place)
    used = bytes + reserved - before
    measuredAt = clock()
  }

  const fits = (added: number): boolean => {
    const age = clock() - measuredAt
    // After the clock was set back, the age of the measurement is unknown.
    return used + added <= quota && age >= 0 && age <= trustedForMs
  }

  const reserve = (added: number): (() => void) => {
    used += added
    underWay += added
    reserved += added
    return () => {
      underWay -= added
    }
  }

  /** Bytes that a write frees by replacing or removing these entries, and that no other write under way frees. */
  const replacedBy = async (addresses: readonly Address[]): Promise<number> => {
    const bytesAt = async (address: Address): Promise<number> => {
      const left = leaving.get(address.key)
      const entry = left ? null : await store.get(address, clock())
      return left?.bytes ?? (entry ? jsonBytes(entry.value) : 0)
    }
    let bytes = 0
    for (let i = 0; i < addresses.length; i += readAtOnce) {
      const sizes = await Promise.all(addresses.slice(i, i + readAtOnce).map(bytesAt))
      bytes += sizes.reduce((sum, size) => sum + size, 0)
    }
    return bytes
  }

  /** Like `reserve`, for a write that fits only into the room it frees: no other write may count on that room. */
  const reserveFreed = (added: number, puts: readonly Entry[], removed: readonly Address[]): (() => void) => {
    const own = new Map(puts.map(({ key, value }) => [key, { bytes: jsonBytes(value) }]))
    for (const { key } of removed) own.set(key, { bytes: 0 })
    for (const [key, left] of own) leaving.set(key, left)
    const release = reserve(added)
    return () => {
      for (const [key, left] of own) if (leaving.get(key) === left) leaving.delete(key)
      release()
    }
  }

  const makeRoom = async (
    added: number,
    puts: readonly Entry[],
    removed: readonly Address[],
  ): Promise<() => void> => {
    const addresses = [...puts, ...removed]
    let freed = 0
    // A write that frees as much as it needs is always allowed, even if the quota was reduced.
    const full = (): boolean => added > freed && used + added - freed > quota
    await measure()
    if (full()) freed = await replacedBy(addresses)
    if (full() && (await store.sweep({ ...place, now: clock(), dryRun: false })) > 0) await measure()
    if (full() && place.scope === evictedScope) {
      // What the write replaces is spared: the write may name that version, and takes over its age.
      const target = Math.max(0, Math.min(quota * evictionThreshold, quota - added - underWay)) + freed
      await evictLeastRecent(store, place, target, { now: clock(), spared: addresses.map(({ key }) => key) })
      await measure()
      freed = await replacedBy(addresses)
    }
    if (full()) {
      const needed = added - freed
      throw exceeded(place.scope, { quota, needed }, `${used} are in use and ${needed} more are needed`)
    }
    // Reserved here, not by the caller: another write may reserve its room before the caller goes on.
    return freed > 0 ? reserveFreed(added, puts, removed) : reserve(added)
  }

  /** @returns what to call when the write is over */
  const roomFor = async (puts: readonly Entry[], removed: readonly Address[]): Promise<() => void> => {
    const added = puts.reduce((sum, { value }) => sum + jsonBytes(value), 0)
    if (added > quota) throw exceeded(place.scope, { quota, needed: added }, `the value alone takes ${added}`)
    // No await between the check and the reservation, so concurrent writes see each other.
    if (fits(added)) return reserve(added)
    const mine = turn.then(() => (fits(added) ? reserve(added) : makeRoom(added, puts, removed)))
    turn = mine.catch(() => undefined)
    return mine
  }

  return async (puts, removed, write) => {
    const release = await roomFor(puts, removed)
    try {
      return await write()
    } finally {
      release()
    }
  }
}

const exceeded = (
  scope: MemoryScope,
  bytes: { quota: number; needed: number },
  problem: string,
): MemoryError =>
  new MemoryError(
    `${scope} memory may hold ${bytes.quota} bytes: ${problem}; delete entries or raise policies.quotas`,
    MemoryErrorCode.QUOTA_EXCEEDED,
    { scope, details: bytes },
  )

/** Whether a refused write would not fit even into an empty scope. */
export const canNeverFit = ({ details = {} }: MemoryError): boolean =>
  Number(details.needed) > Number(details.quota)
