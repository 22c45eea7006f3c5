import { join } from 'node:path'
import { MemoryErrorCode } from '@recall/core'
import {
  agents,
  type Database,
  memories,
  memoryLinks,
  privateNamespaces,
  retrievalEvents,
  rowsOf,
} from '@recall/store-postgres'
import { openPostgres } from '@recall/store-postgres/postgres'
import { and, eq, inArray, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  openServerDatabase,
  serverUrl,
} from '../../../packages/store-postgres/test/support/server-database.ts'
import { backUpToFile } from '../src/backup/backup.ts'
import { restoreFromFile } from '../src/backup/restore.ts'
import { parseConfig } from '../src/config/config.ts'
import type { HubParts } from '../src/hub.ts'
import { promoteAuthors } from '../src/trust/promotion.ts'
import {
  codeOf,
  emptyTables,
  lesson,
  noLimits,
  openHub,
  type TestAgent,
  type TestHub,
} from './support/open-hub.ts'
import { until } from './support/processes.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const tags = ['at', 'once']

// server-database.ts says when there is no server.
describe.skipIf(!serverUrl)('requests at the same moment', () => {
  let server: Awaited<ReturnType<typeof openServerDatabase>>
  let hub: TestHub
  let [ann, bob, admin]: TestAgent[] = []
  beforeAll(async () => {
    server = await openServerDatabase()
  })
  afterAll(() => server?.close())
  beforeEach(async () => {
    await emptyTables(server.database)
    hub = await openHub(server.database)
    ann = await hub.agent('ann', 1)
    bob = await hub.agent('bob', 1)
    admin = await hub.agent('root', 2)
  })

  const decide = async (path: string, method = 'POST'): Promise<number> =>
    (await hub.request(method, `/api/v1/admin/${path}`, { key: admin?.key ?? '' })).status
  const notes = async () =>
    (await server.database.select({ notes: agents.notes }).from(agents).where(eq(agents.name, 'ann')))[0]
      ?.notes
  const untilWaiting = (count: number) =>
    until(
      () =>
        rowsOf(
          server.database,
          sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      ({ length }) => length === count,
    )

  it.each([
    ['for the first time by two requests: both are answered', undefined, 2, [200, 200]],
    ['for the first time while another one is given: it is refused', 'another hash', 1, [401]],
  ] as const)('a new key is used %s', async (_, nextApiKeyHash, requests, statuses) => {
    const rotated = await hub.request('POST', '/api/v1/agents/me/rotate-key', { key: ann?.key ?? '' })
    const { api_key: key } = (await rotated.json()) as { api_key: string }
    let answers: Promise<Response>[] = []
    await server.database.transaction(async (transaction) => {
      const isAnn = eq(agents.name, 'ann')
      await transaction.update(agents).set({ name: 'ann', nextApiKeyHash }).where(isAnn)
      answers = Array.from({ length: requests }, () => hub.request('GET', '/api/v1/agents/me', { key }))
      await untilWaiting(requests)
    })
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(statuses)
  })

  it('the same text is saved by two hubs: after maintenance the later one is a copy, freed when the other is hidden', async () => {
    const second = await openPostgres({ url: server.url })
    onTestFinished(() => second.close())
    const other = await openHub(second.database)
    const body = { content: lesson('redis'), tags }
    const saving: Promise<Response>[] = []
    await server.database.transaction(async (transaction) => {
      await transaction.execute(sql`lock table memories in exclusive mode`)
      saving.push(hub.request('POST', '/api/v1/memory', { key: ann?.key ?? '', body }))
      saving.push(other.request('POST', '/api/v1/memory', { key: bob?.key ?? '', body }))
      await untilWaiting(2)
    })
    await Promise.all(saving)
    const saved = () =>
      server.database
        .select({ id: memories.id, quality: memories.quality, duplicateOf: memories.duplicateOf })
        .from(memories)
        .orderBy(memories.createdAt, memories.id)
    const original = { quality: 0, duplicateOf: null }
    expect(await saved()).toMatchObject([original, original])
    await hub.maintain()
    const [first] = await saved()
    expect(await saved()).toMatchObject([original, { quality: -1, duplicateOf: first?.id }])
    await decide(`quarantine/${first?.id}`)
    expect(await saved()).toMatchObject([{ quality: -2 }, original])
    await decide(`restore/${first?.id}`)
    await hub.maintain()
    expect((await saved()).map(({ quality }) => quality)).toEqual([-1, 0])
  })

  it('a memory is put in quarantine while it is marked as a copy again: it stays hidden', async () => {
    const body = { content: lesson('redis'), tags }
    await ann?.save(body)
    const copy = await bob?.save(body)
    const state = { duplicateOf: null, quality: 0 }
    const isCopy = eq(memories.id, copy?.id ?? '')
    await server.database.update(memories).set(state).where(isCopy)
    let maintained: Promise<unknown> | undefined
    await server.database.transaction(async (transaction) => {
      await transaction.update(memories).set({ quality: -2 }).where(isCopy)
      maintained = hub.maintain()
      await untilWaiting(1)
    })
    await maintained
    expect(await server.database.select().from(memories).where(isCopy)).toMatchObject([{ quality: -2 }])
  })

  it('memories are saved like those of an agent that are being hidden', async () => {
    await ann?.save({ content: lesson('redis'), tags })
    const last = await ann?.save({ content: `${lesson('redis')} Again.`, tags })
    let hiding: Promise<number> | undefined
    await server.database.transaction(async (transaction) => {
      await transaction.execute(sql`update memories set quality = quality where id = ${last?.id}`)
      hiding = decide(`agents/${ann?.id}/quarantine`)
      await untilWaiting(1)
      expect((await bob?.save({ content: lesson('redis'), tags }))?.similar).toHaveLength(2)
    })
    expect(await hiding).toBe(200)
    expect(await server.database.$count(memories, eq(memories.quality, -2))).toBe(2)
  })

  it('two agents would be promoted by the word of one who may speak for one more: only one of them is', async () => {
    const trust = { usefulMemories: 1, vouches: 1 }
    const authors = [await hub.agent('cid'), await hub.agent('dan')]
    for (const [i, author] of authors.entries()) {
      const content = lesson(['redis', 'nginx'][i] ?? '')
      await author.save({ content, tags })
      await bob?.search(content)
    }
    const ofAuthors = inArray(
      agents.id,
      authors.map(({ id }) => id),
    )
    const parts = {
      config: parseConfig({ ...noLimits, trust }),
      database: server.database,
      clock: Date.now,
      call: <T>(run: () => Promise<T>) => run(),
      auth: { forget() {} },
    } as unknown as HubParts
    let promoted: Promise<void>[] = []
    await server.database.transaction(async (transaction) => {
      await transaction.select().from(agents).where(ofAuthors).for('update')
      promoted = authors.map(({ id }) => promoteAuthors(parts, [id]))
      await untilWaiting(2)
    })
    await Promise.all(promoted)
    expect(await server.database.$count(agents, and(ofAuthors, eq(agents.trustLevel, 1)))).toBe(1)
  })

  it('a memory is put in quarantine while it is found to be of no use: it stays hidden', async () => {
    const memory = await ann?.save({ content: lesson('redis'), tags })
    const later = await openHub(server.database, noLimits, { clock: () => Date.now() + 91 * 24 * 3600_000 })
    let maintained: Promise<unknown> | undefined
    await server.database.transaction(async (transaction) => {
      await transaction.execute(sql`update memories set quality = -2 where id = ${memory?.id}`)
      maintained = later.maintain()
      await untilWaiting(1)
    })
    expect(await maintained).toMatchObject({ lowered: 0 })
    expect(await server.database.$count(memories, eq(memories.quality, -2))).toBe(1)
  })

  it('an agent is let back in while its quarantine goes on: none of its memories stays hidden', async () => {
    const memory = await ann?.save({ content: lesson('redis'), tags })
    const decided: Promise<number>[] = []
    await server.database.transaction(async (transaction) => {
      await transaction.execute(sql`update memories set quality = quality where id = ${memory?.id}`)
      for (const decision of ['quarantine', 'restore']) {
        decided.push(decide(`agents/${ann?.id}/${decision}`))
        await untilWaiting(decided.length)
      }
    })
    expect(await Promise.all(decided)).toEqual([200, 200])
    expect(await ann?.whoami()).toMatchObject({ name: 'ann' })
    expect(await server.database.$count(memories, eq(memories.quality, -1))).toBe(1)
    expect((await notes())?.split('\n')).toHaveLength(2)
  })

  it.each([
    ['quarantine', 0],
    ['restore', -2],
  ])('a memory is deleted before its %s: 404, and no note', async (decision, quality) => {
    const memory = await ann?.save({ content: lesson('redis'), tags })
    await server.database.update(memories).set({ quality })
    let decided: Promise<number> | undefined
    await server.database.transaction(async (transaction) => {
      await transaction.execute(sql`delete from memories where id = ${memory?.id}`)
      decided = decide(`${decision}/${memory?.id}`)
      await untilWaiting(1)
    })
    expect(await decided).toBe(404)
    expect(await notes()).toBeNull()
  })

  it('a memory is deleted by an administrator together with the note of it, or not at all', async () => {
    const memory = await ann?.save({ content: lesson('redis'), tags })
    await server.database.execute(sql`alter table agents add constraint no_notes check (notes is null)`)
    expect(await decide(`memory/${memory?.id}`, 'DELETE')).toBe(500)
    expect(await server.database.$count(memories)).toBe(1)
    await server.database.execute(sql`alter table agents drop constraint no_notes`)
    expect(await decide(`memory/${memory?.id}`, 'DELETE')).toBe(200)
    expect(await server.database.$count(memories)).toBe(0)
    expect(await notes()).toContain(`${memory?.short_id} deleted by root`)
  })

  it.each(['quarantine', 'restore'])(
    'a memory is deleted that becomes the original by a %s: there is none then',
    async (decision) => {
      const [first, second, third] = [
        await ann?.save({ content: lesson('redis'), tags }),
        await bob?.save({ content: lesson('redis'), tags }),
        await bob?.save({ content: lesson('redis'), tags }),
      ]
      const set = (values: Partial<typeof memories.$inferInsert>, id = '') =>
        server.database.update(memories).set(values).where(eq(memories.id, id))
      await set({ duplicateOf: null }, second?.id)
      await set({ duplicateOf: first?.id ?? null }, third?.id)
      if (decision === 'restore') await set({ quality: -2 }, first?.id)
      let decided: Promise<number> | undefined
      await server.database.transaction(async (transaction) => {
        await transaction.execute(sql`delete from memories where id = ${second?.id}`)
        decided = decide(`${decision}/${first?.id}`)
        await untilWaiting(1)
      })
      expect(await decided).toBe(200)
      const copies = isNotNull(memories.duplicateOf)
      expect(await server.database.$count(memories, copies)).toBe(decision === 'restore' ? 1 : 0)
    },
  )

  it('a cited memory is deleted while its copies are saved: they are copies of nothing', async () => {
    const original = await ann?.save({ content: lesson('redis'), tags })
    await bob?.cite(original?.id ?? '')
    const queueing = await openHub(server.database, { ...noLimits, embedAsync: true })
    const body = { content: lesson('redis'), tags }
    await queueing.request('POST', '/api/v1/memory', { key: bob?.key ?? '', body })
    let done: Promise<unknown>[] = []
    await server.database.transaction(async (transaction) => {
      await transaction.execute(sql`select from memories where id = ${original?.id} for update`)
      done = [ann?.delete(original?.id ?? '') as Promise<unknown>]
      await untilWaiting(1)
      done.push(bob?.save(body) as Promise<unknown>, queueing.embedWaiting())
      await untilWaiting(3)
    })
    expect(await Promise.all(done)).toMatchObject(['tombstone', { status: 'saved' }, 1])
    // One of the two may be a copy of the other: whichever is judged once that has its vector.
    const { id } = original as { id: string }
    expect(await server.database.$count(memories, eq(memories.duplicateOf, id))).toBe(0)
    expect(await server.database.$count(memoryLinks, eq(memoryLinks.relatedId, id))).toBe(0)
    expect(await server.database.$count(memories, isNotNull(memories.embedding))).toBe(2)
    const alone = and(eq(memories.quality, 0), isNull(memories.duplicateOf), isNull(memories.deletedAt))
    expect(await server.database.$count(memories, alone)).toBeGreaterThan(0)
  })

  it('a cited memory is deleted after its copy was saved: it is a copy of nothing', async () => {
    const original = await ann?.save({ content: lesson('redis'), tags })
    await bob?.cite(original?.id ?? '')
    await bob?.save({ content: lesson('redis'), tags })
    const copies = () => server.database.$count(memories, isNotNull(memories.duplicateOf))
    expect(await copies()).toBe(1)
    expect(await ann?.delete(original?.id ?? '')).toBe('tombstone')
    expect(await copies()).toBe(0)
  })

  it('a question is forgotten while its retrieval ceases to count: nothing is left of it', async () => {
    let now = Date.UTC(2026, 0, 1)
    const later = await openHub(server.database, noLimits, { clock: () => now })
    await ann?.save({ content: lesson('redis'), tags })
    const path = `/api/v1/memory/search?q=${encodeURIComponent(lesson('redis'))}`
    await later.request('GET', path, { key: bob?.key ?? '' })
    const events = () => server.database.select().from(retrievalEvents)
    await until(events, ({ length }) => length === 1)
    now += 31 * 24 * 60 * 60 * 1000
    const maintaining = await server.database.transaction(async (transaction) => {
      await transaction.update(retrievalEvents).set({ counted: false })
      const begun = later.maintain()
      await untilWaiting(1)
      return [begun]
    })
    await Promise.all(maintaining)
    await later.maintain()
    expect(await events()).toEqual([])
  })

  it('an empty namespace is freed before a write to it is there: the next write takes it again', async () => {
    const limited = await openHub(server.database, { ...noLimits, privateNamespaces: 1 })
    const write = async (operation: string, body: object): Promise<number> => {
      const request = { key: ann?.key ?? '', body: { namespace: 'first', ...body } }
      return (await limited.request('POST', `/api/v1/private/working/${operation}`, request)).status
    }
    const put = (key: string) => write('put', { entry: { key, value: 1 } })
    expect([await put('key'), await write('remove', { key: 'key' })]).toEqual([200, 200])
    let done: Promise<number> | undefined
    await server.database.transaction(async (transaction) => {
      await transaction.execute(sql`lock table entries in share mode`)
      done = put('key')
      await untilWaiting(1)
      await limited.maintain()
    })
    expect([await done, await put('another')]).toEqual([200, 200])
    expect(await server.database.$count(privateNamespaces)).toBe(1)
  })

  it('an agent registers while a backup is made: that is of the moment before', async () => {
    let registered: Promise<TestAgent> | undefined
    const read = async (transaction: Database, statement: SQL) => {
      const rows = await transaction.execute(statement)
      // From here on it reads its tables.
      if (/^declare/.test(new PgDialect().sqlToQuery(statement).sql)) registered ??= hub.agent('eve')
      await registered
      return rows
    }
    const meeting = (inner: Database): Database =>
      Object.create(inner, { execute: { value: (statement: SQL) => read(inner, statement) } })
    const transaction: Database['transaction'] = (run, config) =>
      server.database.transaction((inner) => run(meeting(inner) as typeof inner), config)
    const database: Database = Object.create(server.database, { transaction: { value: transaction } })
    expect((await backUpToFile(database, join(temporaryFolder(), 'hub.backup'))).agents).toBe(3)
    expect(await server.database.$count(agents)).toBe(4)
  })

  it('an agent registers while a backup is restored: the database is no longer empty', async () => {
    const path = join(temporaryFolder(), 'hub.backup')
    await ann?.save({ content: lesson('redis'), tags })
    await backUpToFile(server.database, path)
    await emptyTables(server.database)
    let restored: Promise<unknown> | undefined
    await server.database.transaction(async (transaction) => {
      await transaction.insert(agents).values({ name: 'eve', apiKeyHash: 'hash' })
      restored = codeOf(() => restoreFromFile(server.database, path))
      await untilWaiting(1)
    })
    expect(await restored).toBe(MemoryErrorCode.CONFLICT)
    expect(await server.database.$count(agents)).toBe(1)
  })
})
