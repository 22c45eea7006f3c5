import { type Address, type ArchiveSelection, MemoryErrorCode, type Place } from '@recall/core'
import { equalJson } from '@recall/core/json'
import { asRestored, writtenSinceArchived } from '@recall/core/stores'
import { and, getTableColumns, inArray, lt, type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Database } from '../engines/database.ts'
import { asMemoryErrors } from '../engines/postgres-errors.ts'
import { entries, units } from '../schema/entries.ts'
import { placeId } from './address.ts'
import { inPlace, isAt, isLive } from './conditions.ts'
import { namingQuota, putEntries } from './put-entries.ts'
import { entryOf, wholeEntry } from './rows.ts'
import type { Shelf } from './shelf.ts'

/** Entries that one transaction moves. */
const movedTogether = 500

/** First key of the advisory lock on moves in a place; any number not used otherwise. */
const moveLock = 727_005

/** Moves of one place take turns, so that no two wait for each other's rows. */
const takeTurn = (transaction: Database, place: Place, current: Shelf): Promise<unknown> =>
  transaction.execute(
    sql`select pg_advisory_xact_lock(${moveLock}::int, hashtext(${placeId(place, current)}))`,
  )

/**
 * Moves entries that were last written before a time to their archive. After a failure, the next call continues from
 * there.
 *
 * @param timeoutMs longest time for one of its transactions
 * @returns how many were moved
 */
export async function archiveEntries(
  database: Database,
  { current, archive }: { current: Shelf; archive: Shelf },
  { before, now, dryRun, limit = Number.POSITIVE_INFINITY, ...place }: ArchiveSelection,
  timeoutMs?: number,
): Promise<number> {
  const running = <T>(call: () => Promise<T>): Promise<T> =>
    asMemoryErrors(MemoryErrorCode.WRITE_FAILED, call, timeoutMs)
  const isOld = and(inPlace(place, current), isLive(now), lt(entries.updatedAt, before)) as SQL
  if (dryRun) return running(async () => database.$count(entries, isOld))
  const movePage = (most: number): Promise<number> =>
    database.transaction(async (transaction) => {
      await takeTurn(transaction, place, current)
      const ids = await lockOldest(transaction, isOld, most)
      if (ids.length > 0) await moveRows(transaction, ids, place, current, archive)
      return ids.length
    })
  let archived = 0
  while (archived < limit) {
    const moved = await running(() => movePage(Math.min(movedTogether, limit - archived)))
    if (moved === 0) break
    archived += moved
  }
  return archived
}

/**
 * Locks in the order of ids, as every writer does, and leaves out rows that are written meanwhile. The subquery is an
 * array so that it runs once: Postgres would run it again for each entry when it believes that there are none.
 */
async function lockOldest(transaction: Database, isOld: SQL, most: number): Promise<string[]> {
  const oldest = transaction
    .select({ id: entries.id })
    .from(entries)
    .where(isOld)
    .orderBy(entries.updatedAt)
    .limit(most)
  const locked = await transaction
    .select({ id: entries.id })
    .from(entries)
    .where(and(isOld, sql`${entries.id} = any(array(${oldest}))`))
    .orderBy(entries.id)
    .for('update')
  return locked.map(({ id }) => id)
}

/** Copies rows with their units, replacing earlier copies, then removes the originals. */
async function moveRows(
  transaction: Database,
  ids: readonly string[],
  place: Place,
  from: Shelf,
  to: Shelf,
): Promise<void> {
  const [source, target] = [placeId(place, from), placeId(place, to)]
  const inSource = and(inPlace(place, from), inArray(entries.id, [...ids]))
  const quota = to.quotas[place.scope]
  if (quota !== undefined) await transaction.execute(sql`select ${namingQuota(target, quota)}`)
  await transaction.delete(entries).where(and(inPlace(place, to), inArray(entries.id, [...ids])))
  // A move counts as a write, so the row gets a new version.
  const kept = columnsBut(entries, 'place', 'version')
  await transaction.execute(
    sql`insert into ${entries} (place, ${kept}) select ${target}::uuid, ${kept} from ${entries} where ${inSource}`,
  )
  const parts = columnsBut(units, 'place')
  // Units beyond `unitCount` were left by an earlier version of the entry.
  await transaction.execute(
    sql`insert into ${units} (place, ${parts}) select ${target}::uuid, ${parts} from ${units}
      where ${units.place} = ${source}::uuid and ${inArray(units.entry, [...ids])} and ${units.unit} < (
        select ${entries.unitCount} from ${entries}
        where ${entries.place} = ${units.place} and ${entries.id} = ${units.entry}
      )`,
  )
  await transaction.delete(entries).where(inSource)
}

const columnsBut = (table: PgTable, ...left: string[]): SQL =>
  sql.join(
    Object.values(getTableColumns(table))
      .filter(({ name }) => !left.includes(name))
      .map(({ name }) => sql.identifier(name)),
    sql`, `,
  )

/**
 * Moves an entry back.
 *
 * @returns whether the key was archived
 * @throws MemoryError CONFLICT when the key now holds another value
 */
export async function restoreEntry(
  database: Database,
  { current, archive }: { current: Shelf; archive: Shelf },
  address: Address,
  now: number,
): Promise<boolean> {
  const read = async (transaction: Database, shelf: Shelf) => {
    const [row] = await transaction
      .select(wholeEntry)
      .from(entries)
      .where(and(isAt(address, shelf), isLive(now)))
      .for('update')
    return row ? entryOf(row) : null
  }
  return database.transaction(async (transaction) => {
    await takeTurn(transaction, address, current)
    const present = await read(transaction, current)
    const copy = await read(transaction, archive)
    if (!copy) return false
    if (present && !equalJson(present.value, copy.value)) throw writtenSinceArchived(address)
    if (!present) await putEntries(transaction, [asRestored(copy, now)], current, { overwrite: false, now })
    await transaction.delete(entries).where(isAt(address, archive))
    return true
  })
}
