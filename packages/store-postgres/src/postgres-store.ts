import {
  type Change,
  type ColdStore,
  type JsonValue,
  MemoryError,
  MemoryErrorCode,
  type MemoryScope,
  type MemoryStore,
  type Place,
} from '@recall/core'
import { equalJson } from '@recall/core/json'
import { changedUnderneath, readTogether } from '@recall/core/stores'
import { and, arrayContains, eq, inArray, is, lt, type SQL, sql } from 'drizzle-orm'
import { PgDatabase } from 'drizzle-orm/pg-core'
import { type Database, rowsOf } from './engines/database.ts'
import { asMemoryErrors } from './engines/postgres-errors.ts'
import { timeLimit } from './engines/time-limit.ts'
import { entryId, placeId } from './entries/address.ts'
import { inPlace, isAt, isExpired, isLive } from './entries/conditions.ts'
import { addressOf, inLockOrder, inRuns } from './entries/group-changes.ts'
import { mergeSizes } from './entries/merge-sizes.ts'
import { archiveEntries, restoreEntry } from './entries/move-entries.ts'
import { putEntries } from './entries/put-entries.ts'
import { entryOf, refuseTooLarge, wholeEntry } from './entries/rows.ts'
import { type Shelf, wholeQuotas } from './entries/shelf.ts'
import { entries, placeSizes } from './schema/entries.ts'
import { findEntries } from './search/find-entries.ts'

export interface PostgresStoreOptions {
  /** Shown to people. Default `postgres`. */
  name?: string | undefined
  /** Owner of the entries: stores of different tenants share nothing, whatever the namespace. Default ''. */
  tenant?: string | undefined
  /** Whether an acknowledged write outlives its process. Default true. */
  durable?: boolean | undefined
  /**
   * Longest that a call waits for an answer, in milliseconds, before it throws TIMEOUT. Clearing, sweeping or archiving
   * many entries takes several steps, each with this limit. Default: for ever.
   */
  timeoutMs?: number | undefined
  /**
   * A text search configuration of Postgres, for example `german`, that splits and stems texts and queries. All
   * stores on a database must use the same. Default: core's own splitting, which is for English.
   */
  textConfiguration?: string | undefined
  /**
   * Most bytes that a place of a scope may hold, and as many again in its archive: everything that is sent to be kept,
   * namely keys, values, texts, types, tags and vectors. A write beyond it throws QUOTA_EXCEEDED, even when others
   * write at the same moment. Default, and with Infinity: no limit.
   */
  quotas?: Partial<Record<MemoryScope, number>> | undefined
  /**
   * Most bytes that the entries of one answer may hold together, counted as for `quotas`: they are in memory at once. A
   * `find` that exceeds it throws QUOTA_EXCEEDED, and so do simultaneous reads of several entries. Default: no limit.
   */
  answerBytes?: number | undefined
  /** Closes the database, when the store closes. */
  close?: (() => Promise<void>) | undefined
}

export type PostgresStore = MemoryStore & { readonly cold: ColdStore }

/**
 * Creates a store on the entries table of a migrated database. Old episodes are archived in the same table, in separate
 * places. Any number of stores, in any number of processes, may share one database.
 *
 * @throws MemoryError INVALID_INPUT without a database, or for an invalid time or quota
 */
export function createPostgresStore(database: Database, options: PostgresStoreOptions = {}): PostgresStore {
  requireDatabase(database)
  const { name = 'postgres', tenant = '', durable = true, close = async () => {} } = options
  const timeoutMs = options.timeoutMs === undefined ? undefined : timeLimit(options.timeoutMs)
  const { textConfiguration = null, answerBytes = Number.POSITIVE_INFINITY } = options
  const quotas = wholeQuotas(options.quotas ?? {})
  const current: Shelf = { tenant, archived: false, textConfiguration, quotas, answerBytes }
  const shelves = { current, archive: { ...current, archived: true } }
  return {
    name,
    capabilities: { durable, semantic: true, archive: true },
    ...createShelf(database, shelves.current, timeoutMs),
    cold: {
      name: `${name} archive`,
      ...createShelf(database, shelves.archive, timeoutMs),
      async archive(selection) {
        return { archived: await archiveEntries(database, shelves, selection, timeoutMs), errors: [] }
      },
      restore: (address, now) => {
        const move = () => restoreEntry(database, shelves, address, now)
        return asMemoryErrors(MemoryErrorCode.WRITE_FAILED, move, timeoutMs)
      },
      close: async () => {},
    },
    close,
  }
}

/** `openPostgres` and `openPglite` return more than the database. */
function requireDatabase(database: Database): void {
  if (is(database, PgDatabase)) return
  throw new MemoryError(
    'createPostgresStore takes a drizzle database, such as the `database` that openPostgres and openPglite return',
    MemoryErrorCode.INVALID_INPUT,
  )
}

/** Most entries that one statement reads: their values and vectors are in memory together. */
const mostRead = 100

/** Most entries that one statement removes. */
const mostRemoved = 5000

function createShelf(
  database: Database,
  shelf: Shelf,
  timeoutMs: number | undefined,
): Omit<MemoryStore, 'name' | 'capabilities' | 'close'> {
  const writing = <T>(call: () => Promise<T>): Promise<T> =>
    asMemoryErrors(MemoryErrorCode.WRITE_FAILED, call, timeoutMs)
  const searching = <T>(call: () => Promise<T>): Promise<T> =>
    asMemoryErrors(MemoryErrorCode.SEARCH_FAILED, call, timeoutMs)

  /**
   * Selects and locks entries of a place. Every writer locks in the same order, or two calls could wait for each other.
   * The subquery is an array so that it runs once: Postgres would run it again for each entry when it believes that
   * there are none.
   */
  const lockedIn = (place: Place, condition: SQL | undefined): SQL => {
    const locked = database
      .select({ id: entries.id })
      .from(entries)
      .where(and(inPlace(place, shelf), condition))
      .orderBy(entries.id)
      .for('update')
    return sql`${inPlace(place, shelf)} and ${entries.id} = any(array(${locked}))`
  }

  /**
   * Removes some of the entries as they stand when the statement begins. What is written since then stays: otherwise
   * simultaneous changes would lose what they replace and keep what they add, although they are made together.
   */
  const removeSome = async (place: Place, condition: SQL | undefined) => {
    const chosen = and(inPlace(place, shelf), condition)
    const [counts = { seen: 0, removed: 0 }] = await rowsOf<{ seen: number; removed: number }>(
      database,
      sql`
        with seen as materialized (
          select id, version from ${entries} where ${chosen} order by id limit ${mostRemoved}
        ), removed as (
          delete from ${entries} where ${inPlace(place, shelf)} and ${entries.id} = any(array(
            select ${entries.id} from ${entries} join seen using (id, version)
            where ${inPlace(place, shelf)} order by ${entries.id} for update of entries
          ))
          returning 1
        )
        select (select count(*)::integer from seen) as seen, (select count(*)::integer from removed) as removed`,
    )
    return counts
  }

  /**
   * However many entries there are, no statement takes long. After a failure, the next call continues; nothing does so
   * earlier.
   */
  const removeInSteps = async (place: Place, condition: SQL | undefined): Promise<number> => {
    let total = 0
    for (;;) {
      const { seen, removed } = await writing(() => removeSome(place, condition))
      total += removed
      if (seen < mostRemoved) return total
    }
  }

  /** Locks entries, so that nobody changes them between this check and the write. */
  const assertExpected = async (via: Database, where: SQL, changes: readonly Change[]): Promise<void> => {
    const rows = await via
      .select({ id: entries.id, updatedAt: entries.updatedAt, value: entries.value })
      .from(entries)
      .where(where)
      .orderBy(entries.id)
      .for('update')
    const present = new Map(rows.map((row) => [row.id, row]))
    for (const change of changes) {
      const { expected } = change
      if (!expected) continue
      const row = present.get(entryId(addressOf(change)))
      const isAsExpected =
        row?.updatedAt === expected.updatedAt &&
        (expected.value === undefined || equalJson(JSON.parse(row.value) as JsonValue, expected.value))
      if (!isAsExpected) throw changedUnderneath(addressOf(change))
    }
  }

  return {
    put: (entry, putOptions) => writing(() => putEntries(database, [entry], shelf, putOptions)),

    get: readTogether(mostRead, (place, keys, now) =>
      searching(async () => {
        const times = timesOfEach(keys.map((key) => entryId({ key })))
        const chosen = and(inPlace(place, shelf), inArray(entries.id, [...times.keys()]), isLive(now))
        // Each repetition of a key gets its own copy of the entry.
        if (keys.length > 1) await refuseTooLarge(database, chosen, shelf, timesInSql(times, keys.length))
        const rows = await database.select(wholeEntry).from(entries).where(chosen)
        const found = new Map(rows.map((row) => [row.key, row]))
        return keys.map((key) => {
          const row = found.get(key)
          return row ? entryOf(row) : null
        })
      }),
    ),

    find: (query) => searching(() => findEntries(database, query, shelf)),

    touch: (addresses, now) =>
      writing(async () => {
        const [first] = addresses
        if (!first) return
        const times = timesOfEach(addresses.map(entryId))
        await database
          .update(entries)
          .set({
            accessedAt: sql`greatest(${entries.accessedAt}, ${now}::float8)`,
            accessCount: sql`${entries.accessCount} + ${timesInSql(times, addresses.length)}`,
            expiresAt: sql`case when ${entries.ttl} is null then ${entries.expiresAt} else greatest(${entries.expiresAt}, ${now}::float8 + ${entries.ttl}) end`,
          })
          .where(lockedIn(first, and(inArray(entries.id, [...times.keys()]), isLive(now))))
      }),

    remove: (address) =>
      writing(async () => {
        const removed = await database
          .delete(entries)
          .where(isAt(address, shelf))
          .returning({ id: entries.id })
        return removed.length > 0
      }),

    removeAll: ({ updatedBefore, tags = [], type, ...place }) =>
      removeInSteps(
        place,
        and(
          updatedBefore === undefined ? undefined : lt(entries.updatedAt, updatedBefore),
          tags.length > 0 ? arrayContains(entries.tags, [...tags]) : undefined,
          type === undefined ? undefined : eq(entries.type, JSON.stringify(type)),
        ),
      ),

    commit: (changes) =>
      writing(() =>
        database.transaction(async (transaction) => {
          for (const run of inRuns(inLockOrder(changes))) {
            const [first] = run
            const place = addressOf(first)
            const isChanged = inArray(
              entries.id,
              run.map((change) => entryId(addressOf(change))),
            )
            if (run.some(({ expected }) => expected))
              await assertExpected(transaction, and(inPlace(place, shelf), isChanged) as SQL, run)
            if ('put' in first) {
              const others = run.flatMap((each) => ('put' in each && each !== first ? each.put : []))
              const manner = { ...first.options, seen: first.expected !== undefined }
              await putEntries(transaction, [first.put, ...others], shelf, manner)
            } else await transaction.delete(entries).where(lockedIn(place, isChanged))
          }
        }),
      ),

    async sweep({ now, dryRun, ...place }) {
      const expired = and(inPlace(place, shelf), isExpired(now))
      if (dryRun) return writing(async () => database.$count(entries, expired))
      const removed = await removeInSteps(place, isExpired(now))
      await writing(() => mergeSizes(database, eq(placeSizes.place, placeId(place, shelf))))
      return removed
    },

    stats: (place) =>
      searching(async () => {
        const [sum] = await database
          .select({
            entries: sql<number>`coalesce(sum(${placeSizes.entries}), 0)::float8`,
            bytes: sql<number>`coalesce(sum(${placeSizes.bytes}), 0)::float8`,
          })
          .from(placeSizes)
          .where(eq(placeSizes.place, placeId(place, shelf)))
        return sum ?? { entries: 0, bytes: 0 }
      }),

    stamp: (address) =>
      searching(async () => {
        const [row] = await database
          .select({ version: entries.version })
          .from(entries)
          .where(isAt(address, shelf))
        return row ? String(row.version) : null
      }),
  }
}

function timesOfEach(ids: readonly string[]): Map<string, number> {
  const times = new Map<string, number>()
  for (const id of ids) times.set(id, (times.get(id) ?? 0) + 1)
  return times
}

/** SQL for how often each row was named: nearly always once. */
const timesInSql = (times: ReadonlyMap<string, number>, total: number): SQL =>
  times.size === total
    ? sql`1`
    : sql`(${JSON.stringify(Object.fromEntries(times))}::text::jsonb ->> ${entries.id}::text)::bigint`
