import { connectHub } from '@recall/client'
import { type Embedder, MemoryError, MemoryErrorCode } from '@recall/core'
import { fakeEmbedder } from '@recall/embeddings'
import { memories, memoryLinks, systemConfig } from '@recall/store-postgres'
import { eq, gt, isNull, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../src/config/config.ts'
import { createHub } from '../src/create-hub.ts'
import { degrees } from './support/degrees.ts'
import { gated } from './support/held-statements.ts'
import { engines, lesson, noLimits, openHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const config = parseConfig({ ...noLimits, embedAsync: true })
const secret = 'poison'

describe.each(engines)('the queue of vectors on %s', (_, open) => {
  const database = useDatabase(open)
  let lines: Record<string, unknown>[]
  let now: number
  beforeEach(async () => {
    lines = []
    now = Date.UTC(2026, 0, 1)
  })

  const started = (embedder: Embedder, from = database()) =>
    createHub(config, {
      database: from,
      embedder,
      clock: () => now,
      log: (line) => lines.push(line),
    })
  /** Forty, of which the first is one that the provider never takes. */
  const fill = async (): Promise<void> => {
    const { id } = await (await openHub(database(), noLimits)).agent('ada')
    await database().execute(sql`
      insert into memories (short_id, agent_id, content, tags, embedding_model, quality, created_at)
      select 'RCL-' || i, ${id}::uuid, case when i = 1 then ${secret} else 'alpha' || i || ' beta' || i * 3 end, '{a,b}', 'none', -1,
        to_timestamp(i) from generate_series(1, 40) as i`)
  }
  const waiting = () => database().$count(memories, isNull(memories.embedding))
  const choosy: Embedder = {
    ...fakeEmbedder(),
    embed: (texts, mode) =>
      texts.includes(secret) ? Promise.reject(new Error(secret)) : fakeEmbedder().embed(texts, mode),
  }

  it('is worked off by one run of maintenance', async () => {
    await fill()
    expect(await (await started(fakeEmbedder())).maintain()).toMatchObject({ embedded: 40, waiting: 0 })
    expect(await waiting()).toBe(0)
  })

  it('says why it stopped, and holds up nothing for the text that failed', async () => {
    await fill()
    const hub = await started(choosy)
    expect(await hub.maintain()).toMatchObject({ embedded: 0, waiting: 40 })
    expect(lines).toMatchObject([
      { level: 'warn', event: 'queue stopped', untried: 15, code: MemoryErrorCode.UNAVAILABLE },
    ])
    expect(JSON.stringify(lines)).not.toContain(secret)
    // The others were not tried: they wait no longer when the provider fails for them.
    expect(await database().$count(memories, gt(memories.embedAttempts, 0))).toBe(1)
    expect(await hub.maintain()).toMatchObject({ embedded: 39, waiting: 1 })
    now += 60 * 60 * 1000
    expect(await hub.maintain()).toMatchObject({ embedded: 0, waiting: 1 })
    expect(lines).toHaveLength(2)
  })

  it('is tried again when the clock that set its pause ran ahead', async () => {
    await fill()
    const hub = await started(choosy)
    const right = now
    now += 365 * 24 * 60 * 60 * 1000
    await hub.maintain()
    await database().execute(
      sql`update memories set embed_after = ${new Date(now).toISOString()}::timestamptz`,
    )
    now = right
    const mended = await started(fakeEmbedder())
    expect(await mended.maintain()).toMatchObject({ embedded: 40, waiting: 0 })
  })

  it('goes on with the others where the model refuses a text, and says so', async () => {
    await fill()
    const says = 'the embedding server answered 400 to a text, and takes others'
    const refusal = new MemoryError(says, MemoryErrorCode.UNAVAILABLE, { details: { refusesText: true } })
    const embed: Embedder['embed'] = (texts, mode) =>
      texts.includes(secret) ? Promise.reject(refusal) : fakeEmbedder().embed(texts, mode)
    const hub = await started({ ...fakeEmbedder(), embed })
    expect(await hub.maintain()).toMatchObject({ embedded: 39, waiting: 1 })
    expect(lines).toEqual([{ level: 'warn', event: 'text refused', says }])
  })

  it('goes on also where the model refuses all that was claimed together', async () => {
    await fill()
    const refusal = new MemoryError('refused', MemoryErrorCode.UNAVAILABLE, {
      details: { refusesText: true },
    })
    let asked = 0
    const embed: Embedder['embed'] = (texts, mode) =>
      ++asked <= 20 ? Promise.reject(refusal) : fakeEmbedder().embed(texts, mode)
    const hub = await started({ ...fakeEmbedder(), embed })
    expect(await hub.maintain()).toMatchObject({ embedded: 20, waiting: 20 })
    expect(lines).toHaveLength(20)
  })

  it('logs what the provider answered', async () => {
    await fill()
    const why = 'the embedding server at http://localhost:11434/v1/embeddings answered 400'
    const embed = () => Promise.reject(new MemoryError(why, MemoryErrorCode.UNAVAILABLE))
    await (await started({ ...fakeEmbedder(), embed })).embedWaiting()
    expect(lines).toMatchObject([{ event: 'queue stopped', says: why }])
  })

  it('stops where the database does not answer in time, and goes on another time', async () => {
    await fill()
    const late = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
    const slow = gated(database(), /<=>/, () => Promise.reject(late))
    expect(await (await started(fakeEmbedder(), slow)).maintain()).toMatchObject({ embedded: 0, waiting: 40 })
    expect(lines).toMatchObject([{ event: 'queue stopped', untried: 15, code: MemoryErrorCode.TIMEOUT }])
    expect(await (await started(fakeEmbedder())).maintain()).toMatchObject({ embedded: 39, waiting: 1 })
  })

  it.each(['kept', 'deleted', 'tombstone'])(
    'links a memory to what it repeats, %s meanwhile',
    async (fate) => {
      const hub = await openHub(database(), noLimits)
      const said = { content: lesson('redis'), tags: ['cache', 'restart'] }
      const earlier = await (await hub.agent('ada', 1)).save(said)
      const queuing = await openHub(database(), { ...noLimits, embedAsync: true })
      const later = await (await queuing.agent('bob', 1)).save(said)
      const meanwhile = gated(database(), /<=>/, async (look) => {
        const found = await look()
        const isEarlier = eq(memories.id, earlier.id)
        if (fate === 'deleted') await database().delete(memories).where(isEarlier)
        if (fate === 'tombstone')
          await database().update(memories).set({ deletedAt: new Date() }).where(isEarlier)
        return found
      })
      expect(await (await started(fakeEmbedder(), meanwhile)).embedWaiting()).toBe(1)
      expect(await database().select().from(memoryLinks)).toMatchObject(
        fate === 'kept'
          ? [{ memoryId: later.id, relatedId: earlier.id, relation: 'duplicate_candidate' }]
          : [],
      )
    },
  )

  it.each([true, false])(
    'takes what repeats a memory that is hidden meanwhile for its copy, where one author wrote both: %j',
    async (isSame) => {
      const hub = await openHub(database(), noLimits)
      const said = { content: lesson('redis'), tags: ['cache', 'restart'] }
      const ada = await hub.agent('ada', 1)
      const hidden = await ada.save(said)
      const queuing = await openHub(database(), { ...noLimits, embedAsync: true })
      const author = isSame ? ada : await hub.agent('bob', 1)
      const http = { url: 'http://localhost', fetch: queuing.fetch, retries: 0 }
      const later = await connectHub({ ...http, apiKey: author.key }).save(said)
      const meanwhile = gated(database(), /<=>/, async (look) => {
        const found = await look()
        await database().update(memories).set({ quality: -2 }).where(eq(memories.id, hidden.id))
        return found
      })
      expect(await (await started(fakeEmbedder(), meanwhile)).embedWaiting()).toBe(1)
      expect(await database().select().from(memories).where(eq(memories.id, later.id))).toMatchObject([
        isSame ? { quality: -1, duplicateOf: hidden.id } : { quality: 0, duplicateOf: null },
      ])
    },
  )

  it.each<[what: string, meanwhile: (forget: () => Promise<unknown>) => Promise<unknown>]>([
    ['was deleted', (forget) => forget()],
    ['has another model', () => database().update(systemConfig).set({ embeddingModel: 'second' })],
  ])('keeps no vector of what %s meanwhile, and does not ask for one again', async (_, meanwhile) => {
    const queuing = await openHub(database(), { ...noLimits, embedAsync: true }, { clock: () => now })
    const [ada, bob] = [await queuing.agent('ada', 1), await queuing.agent('bob', 1)]
    const { id } = await ada.save({ content: lesson('redis'), tags: ['cache', 'restart'] })
    let asked = 0
    const counting: Embedder = {
      ...fakeEmbedder(),
      embed: (texts, mode) => {
        asked++
        return fakeEmbedder().embed(texts, mode)
      },
    }
    const held = gated(database(), /<=>/, async (look) => {
      const found = await look()
      await meanwhile(async () => {
        await bob.cite(id)
        expect(await ada.delete(id)).toBe('tombstone')
      })
      return found
    })
    const hub = await started(counting, held)
    expect(await hub.embedWaiting()).toBe(0)
    now += 60 * 60 * 1000
    expect(await hub.embedWaiting()).toBe(0)
    expect(asked).toBe(1)
    expect(await waiting()).toBe(1)
  })

  it('takes the earlier of two for the original, also where the later one got its vector first', async () => {
    let isAway = true
    const embedder: Embedder = {
      ...fakeEmbedder(),
      embed: (texts, mode) =>
        isAway ? Promise.reject(new Error('away')) : fakeEmbedder().embed(texts, mode),
    }
    const settings = { ...noLimits, embedAsync: true }
    const hub = await openHub(database(), settings, { embedder, clock: () => now })
    const [ada, bob] = [await hub.agent('ada', 1), await hub.agent('bob', 1)]
    const save = async (agent: typeof ada) =>
      (await agent.save({ content: lesson('redis'), tags: ['cache', 'restart'] })).id
    const earlier = await save(ada)
    expect(await hub.embedWaiting()).toBe(0)
    now += 1000
    const later = await save(bob)
    isAway = false
    expect(await hub.embedWaiting()).toBe(1)
    now += 60_000
    expect(await hub.embedWaiting()).toBe(1)
    const rows = await database().select().from(memories)
    expect(Object.fromEntries(rows.map((row) => [row.id, [row.quality, row.duplicateOf]]))).toEqual({
      [earlier]: [0, null],
      [later]: [-1, earlier],
    })
    expect(await database().select().from(memoryLinks)).toMatchObject([
      { memoryId: later, relatedId: earlier },
    ])
    await ada.delete(earlier)
    expect(await database().select().from(memories)).toMatchObject([{ quality: 0, duplicateOf: null }])
  })

  it.each(['earlier', 'later'] as const)(
    'hides still what was hidden meanwhile, and nothing for it: the %s of two',
    async (which) => {
      const queuing = await openHub(database(), { ...noLimits, embedAsync: true }, { clock: () => now })
      const [ada, bob] = [await queuing.agent('ada', 1), await queuing.agent('bob', 1)]
      const said = { content: lesson('redis'), tags: ['cache', 'restart'] }
      const { id: earlier } = await ada.save(said)
      now += 1000
      const embedding = await openHub(database(), noLimits, { clock: () => now })
      const { id: later } = await connectHub({
        url: 'http://localhost',
        fetch: embedding.fetch,
        apiKey: bob.key,
      }).save(said)
      const hidden = { earlier, later }[which]
      const held = gated(database(), /<=>/, async (look) => {
        const found = await look()
        await database().update(memories).set({ quality: -2 }).where(eq(memories.id, hidden))
        return found
      })
      expect(await (await started(fakeEmbedder(), held)).embedWaiting()).toBe(1)
      expect(await waiting()).toBe(0)
      const rows = await database().select().from(memories)
      const states = Object.fromEntries(rows.map((row) => [row.id, [row.quality, row.duplicateOf]]))
      expect(states).toEqual({ [earlier]: [0, null], [later]: [0, null], [hidden]: [-2, null] })
    },
  )

  it('takes what an author says again for a copy of what was hidden before it had its vector', async () => {
    const queuing = await openHub(database(), { ...noLimits, embedAsync: true }, { clock: () => now })
    const ada = await queuing.agent('ada', 1)
    const said = { content: lesson('redis'), tags: ['cache', 'restart'] }
    const { id: hidden } = await ada.save(said)
    now += 1000
    const embedding = await openHub(database(), noLimits, { clock: () => now })
    const http = { url: 'http://localhost', fetch: embedding.fetch, apiKey: ada.key }
    const { id: again } = await connectHub(http).save(said)
    await database().update(memories).set({ quality: -2 }).where(eq(memories.id, hidden))
    expect(await (await started(fakeEmbedder())).embedWaiting()).toBe(1)
    expect(await database().select().from(memories).where(eq(memories.id, again))).toMatchObject([
      { quality: -1, duplicateOf: hidden },
    ])
  })

  it.each([
    ['is a copy itself', 10, 20, [-1, 0], null],
    ['came later than its original', 20, 12, [0, -1], 0],
    ['is only like it', 40, 20, [0, 0], null],
  ])('marks nothing as a copy of what %s', async (_, second, third, qualities, original) => {
    const asked = { embedder: degrees, clock: () => now }
    const embedding = await openHub(database(), noLimits, asked)
    const queuing = await openHub(database(), { ...noLimits, embedAsync: true }, asked)
    const ids: string[] = []
    // Cosines: 0.94 of 20 degrees, and 0.98 of 12.
    for (const [i, angle] of [0, second, third].entries()) {
      const author = await (i === 1 ? queuing : embedding).agent(`author${i}`, 1)
      ids.push((await author.save({ content: degrees.text(angle), tags: ['angle', 'degree'] })).id)
      now += 1000
    }
    expect(await (await started(degrees)).embedWaiting()).toBe(1)
    const rows = await database().select().from(memories).orderBy(memories.createdAt)
    expect(rows.map(({ quality }) => quality)).toEqual([0, ...qualities])
    expect(rows[2]?.duplicateOf).toBe(original === null ? null : ids[original])
  })

  it('makes a copy of what was an original, and frees what repeats only that', async () => {
    const asked = { embedder: degrees, clock: () => now }
    const embedding = await openHub(database(), noLimits, asked)
    const queuing = await openHub(database(), { ...noLimits, embedAsync: true }, asked)
    const ids: string[] = []
    // Cosines: 0.98 of 12 degrees, 0.91 of 24.
    for (const [i, angle] of [0, 12, 24].entries()) {
      const author = await (i === 0 ? queuing : embedding).agent(`author${i}`, 1)
      ids.push((await author.save({ content: degrees.text(angle), tags: ['angle', 'degree'] })).id)
      now += 1000
    }
    expect(await (await started(degrees)).embedWaiting()).toBe(1)
    const rows = await database().select().from(memories).orderBy(memories.createdAt)
    expect(rows.map(({ quality, duplicateOf }) => [quality, duplicateOf])).toEqual([
      [0, null],
      [-1, ids[0]],
      [0, null],
    ])
  })

  it('ends after the memory that it is at when the hub stops, and holds back none of the others', async () => {
    await fill()
    const stop = new AbortController()
    const hub = await started({
      ...fakeEmbedder(),
      embed(texts, mode) {
        stop.abort()
        return fakeEmbedder().embed(texts, mode)
      },
    })
    expect(await hub.embedWaiting(stop.signal)).toBe(1)
    expect(await (await started(fakeEmbedder())).maintain()).toMatchObject({ embedded: 39, waiting: 0 })
  })

  it('does not take a failure of the database for one of the provider', async () => {
    await fill()
    const embedder: Embedder = {
      ...fakeEmbedder(),
      async embed(texts, mode) {
        await database().execute(sql`alter table memories add constraint none check (embedding is null)`)
        return fakeEmbedder().embed(texts, mode)
      },
    }
    const hub = await started(embedder)
    try {
      await expect(hub.embedWaiting()).rejects.toMatchObject({ details: { postgres: '23514' } })
    } finally {
      await database().execute(sql`alter table memories drop constraint none`)
    }
    expect(await (await started(fakeEmbedder())).embedWaiting()).toBe(16)
  })
})
