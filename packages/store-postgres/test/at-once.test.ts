import {
  type Change,
  type Embedder,
  type Entry,
  type Found,
  MemoryErrorCode,
  type MemoryStore,
} from '@recall/core'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Database, rowsOf } from '../src/engines/database.ts'
import { asMemoryErrors } from '../src/engines/postgres-errors.ts'
import { entryId } from '../src/entries/address.ts'
import { sweepAll } from '../src/entries/sweep-all.ts'
import { createPostgresStore } from '../src/postgres-store.ts'
import { reembed } from '../src/reembed.ts'
import { emptyTables, plainEntry } from './support/engines.ts'
import { openServerDatabase, serverUrl } from './support/server-database.ts'

const place = { namespace: 'default', scope: 'working' } as const
const entry = (key: string, value = key): Entry => plainEntry(key, { value, text: value })
/** Two keys, of which everybody locks the first one first. */
const [lower, upper] = ['a', 'b'].sort((a, b) => (entryId({ key: a }) < entryId({ key: b }) ? -1 : 1)) as [
  string,
  string,
]

const put = (key: string, value: string): Change => ({
  put: entry(key, value),
  options: { overwrite: true, now: 2 },
})

// server-database.ts says when there is no server.
describe.skipIf(!serverUrl)('calls at the same moment', () => {
  let server: Awaited<ReturnType<typeof openServerDatabase>>
  let database: Database
  let store: MemoryStore
  beforeAll(async () => {
    server = await openServerDatabase()
    database = server.database
    store = createPostgresStore(database)
  })
  afterAll(() => server?.close())
  beforeEach(() => emptyTables(database))

  /** Runs calls that wait for an entry, one after the other, until all of them do; then the entry is free. */
  async function atOnce(key: string, calls: readonly (() => Promise<unknown>)[]): Promise<unknown[]> {
    const made: Promise<unknown>[] = []
    await database.transaction(async (transaction) => {
      await transaction.execute(sql`update entries set accessed_at = accessed_at where key = ${key}`)
      for (const call of calls) {
        made.push(call())
        await untilWaiting(database, made.length)
      }
    })
    return Promise.all(made)
  }

  const both = [put(lower, 'new'), put(upper, 'new')]
  const deletions: [name: string, expiresAt: number | null, () => Promise<number>][] = [
    ['cleared', null, () => store.removeAll(place)],
    ['swept', 3, () => store.sweep({ ...place, now: 4, dryRun: false })],
  ]
  it.each(deletions)('entries are %s while others change several of them', async (_, expiresAt, remove) => {
    const changes = [() => store.commit(both), () => store.touch([entry(lower), entry(upper)], 2)]
    for (const change of changes) {
      for (const key of [upper, lower])
        await store.put({ ...entry(key), expiresAt }, { overwrite: true, now: 1 })
      expect((await atOnce(upper, [remove, change]))[0]).toBe(2)
    }
  })

  it('changes that are made together stay together while entries are cleared', async () => {
    await store.put(entry(upper), { overwrite: true, now: 1 })
    let removed: Promise<number> | undefined
    await database.transaction(async (transaction) => {
      await createPostgresStore(transaction).commit(both)
      removed = store.removeAll(place)
      await untilWaiting(database, 1)
    })
    expect(await removed).toBe(0)
    expect(await store.get(entry(lower), 2)).toMatchObject({ value: 'new' })
    expect(await store.get(entry(upper), 2)).toMatchObject({ value: 'new' })
    expect(await store.removeAll(place)).toBe(2)
  })

  it('an entry is left that is read while what has expired is removed everywhere', async () => {
    await store.put({ ...entry(lower), ttl: 2, expiresAt: 3 }, { overwrite: true, now: 1 })
    await store.put({ ...entry(upper), expiresAt: 3 }, { overwrite: true, now: 1 })
    let removed: Promise<number> | undefined
    await database.transaction(async (transaction) => {
      await createPostgresStore(transaction).touch([entry(lower)], 2)
      removed = sweepAll(database, 3)
      await untilWaiting(database, 1)
    })
    expect(await removed).toBe(1)
    expect(await store.get(entry(lower), 3)).toMatchObject({ expiresAt: 4 })
  })

  it('entries are archived once while others archive, write, clear and restore them', async () => {
    const { cold } = createPostgresStore(database)
    const archive = () => cold.archive({ ...place, before: 2, now: 2, dryRun: false })
    const fill = async (): Promise<void> => {
      await emptyTables(database)
      for (const key of [upper, lower]) await store.put(entry(key), { overwrite: true, now: 1 })
    }
    const archivedKeys = async () =>
      (
        await cold.find({
          ...place,
          ...{ limit: 9, offset: 0, sortBy: 'recency', sortOrder: 'desc', minScore: 0, now: 2 },
        })
      ).map(({ entry }) => entry.value)
    await fill()
    const runs = (await atOnce(upper, [archive, archive])) as { archived: number }[]
    expect(runs.map(({ archived }) => archived)).toEqual([2, 0])
    expect((await archivedKeys()).sort()).toEqual(['a', 'b'])
    await fill()
    const written = { ...entry(upper, 'new'), updatedAt: 3 }
    await atOnce(upper, [() => store.put(written, { overwrite: true, now: 3 }), archive])
    expect(await store.get(entry(upper), 3)).toMatchObject({ value: 'new' })
    expect(await archivedKeys()).toContain(lower)
    await fill()
    await atOnce(upper, [() => store.removeAll(place), archive, () => cold.restore(entry(upper), 3)])
    expect(await archivedKeys()).toEqual([])
    expect(await store.get(entry(upper), 3)).toBeNull()
  })

  it('a version is replaced while all vectors are exchanged', async () => {
    const embedding = { model: 'old', vector: [1, 0] }
    for (const key of [upper, lower])
      await store.put({ ...entry(key), embedding }, { overwrite: true, now: 1 })
    const embedder: Embedder = {
      model: 'new',
      dimensions: 2,
      embed: async (texts) => texts.map(() => Float32Array.from([0, 1])),
    }
    await atOnce(upper, [
      () => reembed(database, 'entries', embedder),
      () => store.commit([{ ...put(lower, 'new'), expected: { updatedAt: 1 } }]),
    ])
    expect(await store.get(entry(lower), 2)).toMatchObject({ value: 'new', embedding: null })
    expect(await store.get(entry(upper), 2)).toMatchObject({ embedding: { model: 'new', vector: [0, 1] } })
  })

  it('an entry is found while it gets a vector of another length', async () => {
    const ofLength = (length: number) => ({ model: `${length}`, vector: Array<number>(length).fill(1) })
    for (const key of [upper, lower])
      await store.put({ ...entry(key, 'pier'), embedding: ofLength(2) }, { overwrite: true, now: 1 })
    const query = { ...place, text: 'pier', sortBy: 'relevance', sortOrder: 'desc', minScore: 0 } as const
    let found: Promise<Found[]> | undefined
    await database.transaction(async (transaction) => {
      await transaction.execute(sql`lock table units in access exclusive mode`)
      found = store.find({ ...query, embedding: ofLength(2), limit: 9, offset: 0, now: 2 })
      await untilWaiting(database, 1)
      const put = createPostgresStore(transaction).put
      await put({ ...entry(lower, 'pier'), embedding: ofLength(3) }, { overwrite: true, now: 2 })
    })
    expect((await found)?.map(({ entry: { key } }) => key).sort()).toEqual(['a', 'b'])
  })

  it('what Postgres has undone, because two waited for each other, is done once more', async () => {
    for (const key of [upper, lower]) await store.put(entry(key), { overwrite: true, now: 1 })
    const access = (via: Database, key: string) =>
      via.execute(sql`update entries set access_count = access_count + 1 where key = ${key}`)
    let runs = 0
    const bothAccessed = (begun: () => void) =>
      database.transaction(async (transaction) => {
        runs++
        await access(transaction, upper)
        begun()
        if (runs === 1) await untilWaiting(database, 1)
        await access(transaction, lower)
      })
    let done: Promise<void> | undefined
    await database.transaction(async (transaction) => {
      // The other one notices it first.
      await transaction.execute(sql`set local deadlock_timeout = '1min'`)
      await access(transaction, lower)
      await new Promise<void>((begun) => {
        done = asMemoryErrors(MemoryErrorCode.WRITE_FAILED, () => bothAccessed(begun))
      })
      await access(transaction, upper)
    })
    await done
    expect(runs).toBe(2)
    for (const key of [upper, lower]) expect(await store.get(entry(key), 2)).toMatchObject({ accessCount: 2 })
  })
})

/** Resolves when so many calls to the database wait for others. */
async function untilWaiting(database: Database, count: number): Promise<void> {
  const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while ((await rowsOf(database, waiting)).length < count);
}
