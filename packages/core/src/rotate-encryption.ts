import { type Clock, systemClock } from './clock.ts'
import { createSealer, isEnvelope, type KeyRing, type Sealer } from './encryption.ts'
import { isMemoryError, MemoryErrorCode } from './errors.ts'
import { asRead } from './eviction.ts'
import { parseFilter } from './filter/parse-filter.ts'
import type { CleanupError } from './memory-manager.ts'
import type { Entry, MemoryStore, Place } from './memory-store.ts'
import { type MemoryScope, memoryScopes } from './scope.ts'
import { storesByScope } from './stores-by-scope.ts'

export interface RotationOptions {
  stores: MemoryStore | Record<MemoryScope, MemoryStore>
  /** Default `default`. */
  namespace?: string
  /** Holds the key to seal with from now on as the current one, and those that opened what is stored. */
  encryptionKey: KeyRing
  clock?: Clock
}

export interface RotationResult {
  /** Entries that are now sealed with the current key and were not before. */
  rotated: number
  /** Entries that could not be opened. They stand as they were. */
  errors: CleanupError[]
}

const pageSize = 50
/** Turns to seal an entry that others keep writing at the same moment. */
const attempts = 5

/**
 * Seals anew, archive included, what was encrypted with another key of the ring. Entry by entry: it may die at
 * any point and be run again, and what is written meanwhile stays. Afterwards the old keys may be given up, if
 * `errors` is empty, no process seals with them any more, and no write queue holds what was sealed with them: drain
 * those first. Times and access counts stay as they were.
 */
export async function rotateEncryption(options: RotationOptions): Promise<RotationResult> {
  const { namespace = 'default', encryptionKey, clock = systemClock } = options
  const sealer = createSealer(encryptionKey)
  const stores = storesByScope(options.stores)
  const result: RotationResult = { rotated: 0, errors: [] }
  for (const scope of memoryScopes) {
    const { cold } = stores[scope]
    for (const store of [stores[scope], ...(cold ? [cold] : [])]) {
      await rotatePlace(store, { namespace, scope }, sealer, clock, result)
    }
  }
  return result
}

async function rotatePlace(
  store: Pick<MemoryStore, 'find' | 'commit'>,
  place: Place,
  sealer: Sealer,
  clock: Clock,
  result: RotationResult,
): Promise<void> {
  const filter = parseFilter({ encrypted: true, kid: { $ne: sealer.current } })
  const failures = new Map<string, number>()
  /** Entries that stay in the list because nothing can be done about them. */
  const passed = new Set<string>()
  const query = { ...place, filter, sortBy: 'recency', sortOrder: 'asc', minScore: 0 } as const
  // The list gets shorter and changes its order while it is worked off: only over a page on which nothing is left to do
  // goes the way on, and the end is the end when nothing was found on the whole way to it.
  let offset = 0
  let foundAny = false
  for (;;) {
    const page = await store.find({ ...query, limit: pageSize, offset, now: clock() })
    const left = page.filter(({ entry }) => !passed.has(entry.key))
    if (page.length === 0) {
      if (!foundAny) return
      offset = 0
      foundAny = false
    } else if (left.length === 0) offset += page.length
    else foundAny = true
    for (const { entry } of left) {
      try {
        if (await rotateEntry(store, entry, sealer, clock())) result.rotated++
        else passed.add(entry.key)
      } catch (error) {
        const failed = (failures.get(entry.key) ?? 0) + 1
        failures.set(entry.key, failed)
        // Somebody wrote it meanwhile: the next page shows how it stands now.
        if (isMemoryError(error, MemoryErrorCode.CONFLICT) && failed < attempts) continue
        passed.add(entry.key)
        result.errors.push({ scope: place.scope, key: entry.key, message: (error as Error).message })
      }
    }
  }
}

async function rotateEntry(
  store: Pick<MemoryStore, 'commit'>,
  entry: Entry,
  sealer: Sealer,
  now: number,
): Promise<boolean> {
  if (!isEnvelope(entry.value)) return false
  const value = await sealer.seal(entry, await sealer.open(entry, entry.value))
  await store.commit([
    { put: { ...entry, value }, options: { overwrite: true, now }, expected: asRead(entry) },
  ])
  return true
}
