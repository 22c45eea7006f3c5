import { type Embedder, MemoryError, MemoryErrorCode } from '@recall/core'
import { fakeEmbedder } from '@recall/embeddings'
import { memories, reembed, systemConfig } from '@recall/store-postgres'
import { openPostgres } from '@recall/store-postgres/postgres'
import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  openServerDatabase,
  serverUrl,
} from '../../../packages/store-postgres/test/support/server-database.ts'
import { maintain } from '../src/commands.ts'
import { parseConfig } from '../src/config/config.ts'
import { createHub } from '../src/create-hub.ts'
import { openDependencies } from '../src/open-dependencies.ts'
import { engines, noLimits, openHub, type TestHub } from './support/open-hub.ts'
import { until } from './support/processes.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { useDatabase } from './support/use-database.ts'

const tags = ['pool', 'orders']
const lesson = (subject: string): string =>
  `${subject} failed under load until the ${subject} settings were raised; it then held for days without trouble.`

/** A model that calls itself another one. */
const named = (model: string, dimensions = 64): Embedder => ({ ...fakeEmbedder({ dimensions }), model })

describe.each(engines)('a hub whose memories are moved to another model on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  beforeEach(async () => {
    hub = await openHub(database(), noLimits, { embedder: named('first') })
  })

  it.each([
    ['as long', 64],
    ['shorter', 32],
  ])(
    'refuses searches and writes until it is started again, where the new vectors are %s',
    async (_, dimensions) => {
      const ada = await hub.agent('ada', 1)
      const { id } = await ada.save({ content: lesson('redis'), tags })
      const second = named('second', dimensions)
      expect(await reembed(database(), 'memories', second)).toBe(1)

      const search = `/api/v1/memory/search?q=${encodeURIComponent(lesson('redis'))}`
      const body = { content: lesson('nginx'), tags }
      for (const answer of [
        await hub.request('GET', search, { key: ada.key }),
        await hub.request('POST', '/api/v1/memory', { key: ada.key, body }),
      ]) {
        expect(answer.status).toBe(503)
        expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0)
        expect(await answer.json()).toMatchObject({
          detail: expect.stringContaining('another embedding model'),
        })
      }
      const ready = await hub.request('GET', '/readyz')
      expect([ready.status, await ready.json()]).toEqual([
        503,
        { ready: false, reason: expect.stringContaining('embedding model') },
      ])
      expect((await hub.request('GET', '/api/v1/health')).status).toBe(503)
      // What compares no vectors goes on.
      expect((await hub.request('GET', `/api/v1/memory/${id}`, { key: ada.key })).status).toBe(200)
      expect(await database().$count(memories)).toBe(1)

      const next = await openHub(database(), noLimits, { embedder: second })
      expect((await next.request('GET', '/readyz')).status).toBe(200)
      const found = await next.request('GET', search, { key: ada.key })
      expect(((await found.json()) as { results: { id: string }[] }).results.map((each) => each.id)).toEqual([
        id,
      ])
      const saved = await next.request('POST', '/api/v1/memory', { key: ada.key, body })
      expect(saved.status).toBe(201)
      await expect(openHub(database(), noLimits, { embedder: named('first') })).rejects.toMatchObject({
        code: MemoryErrorCode.CONFLICT,
      })
    },
  )

  /** A model that takes no text of Redis. */
  const choosyModel = (): Embedder => ({
    ...named('first'),
    embed(texts, mode) {
      const refusal = new MemoryError('the server answered 400', MemoryErrorCode.UNAVAILABLE, {
        details: { refusesText: true },
      })
      return texts.some((text) => text.includes('redis'))
        ? Promise.reject(refusal)
        : named('first').embed(texts, mode)
    },
  })

  it('counts what the model refuses as a read', async () => {
    const choosy = await openHub(database(), {}, { embedder: choosyModel() })
    const ada = await choosy.agent('ada')
    const statusOf = async (subject: string) =>
      (
        await choosy.request('POST', '/api/v1/memory', {
          key: ada.key,
          body: { content: lesson(subject), tags },
        })
      ).status
    expect([await statusOf('redis'), await statusOf('redis'), await statusOf('nginx')]).toEqual([
      400, 400, 201,
    ])
    expect(await statusOf('nginx')).toBe(429)
  })

  it('says that the model refuses a text, and to say it in fewer words', async () => {
    const choosy = await openHub(database(), noLimits, { embedder: choosyModel() })
    const ada = await choosy.agent('ada', 1)
    const save = (content: string) =>
      choosy.request('POST', '/api/v1/memory', { key: ada.key, body: { content, tags } })
    const answer = await save(lesson('redis'))
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([400, null])
    expect(await answer.json()).toMatchObject({ detail: expect.stringContaining('say it in fewer words') })
    expect((await save(lesson('nginx'))).status).toBe(201)
    expect(await database().$count(memories)).toBe(1)
  })

  it('leaves the queue to those that have the new one', async () => {
    const settings = { ...noLimits, embedAsync: true }
    const queued = await openHub(database(), settings, { embedder: named('first') })
    const ada = await queued.agent('ada', 1)
    await ada.save({ content: lesson('redis'), tags })
    await reembed(database(), 'memories', named('second'))
    expect(await queued.embedWaiting()).toBe(0)
    await expect(ada.save({ content: lesson('nginx'), tags })).rejects.toMatchObject({
      code: MemoryErrorCode.UNAVAILABLE,
    })
    const next = await openHub(database(), settings, { embedder: named('second') })
    expect(await next.embedWaiting()).toBe(1)
    const rows = await database().select({ model: memories.embeddingModel }).from(memories)
    expect(rows).toEqual([{ model: 'second' }])
  })

  it('takes a vector without a direction for no answer: it would be near everything', async () => {
    const embedder = named('first')
    const ada = await hub.agent('ada', 1)
    await ada.save({ content: lesson('redis'), tags })
    const directionless = await openHub(database(), noLimits, {
      embedder: { ...embedder, embed: async (texts) => texts.map(() => new Float32Array(64)) },
    })
    const call = (method: string, path: string, body?: object) =>
      directionless.request(method, path, { key: ada.key, ...(body ? { body } : {}) })
    const written = await call('POST', '/api/v1/memory', { content: lesson('nginx'), tags })
    const found = await call('GET', '/api/v1/memory/search?q=anything')
    expect([written.status, found.status]).toEqual([503, 503])
    expect(await database().$count(memories)).toBe(1)
  })

  it('may be begun with another model while it holds nothing, and goes by the last one', async () => {
    const next = await openHub(database(), noLimits, { embedder: named('second') })
    const ada = await next.agent('ada', 1)
    await expect(ada.save({ content: lesson('redis'), tags })).resolves.toMatchObject({ status: 'saved' })
    expect((await hub.request('GET', '/readyz')).status).toBe(503)
  })

  it('looks through what was written before the model was noted', async () => {
    const ada = await hub.agent('ada', 1)
    await ada.save({ content: lesson('redis'), tags })
    await database().update(systemConfig).set({ embeddingModel: null })
    await expect(openHub(database(), noLimits, { embedder: named('second') })).rejects.toMatchObject({
      code: MemoryErrorCode.CONFLICT,
    })
    const again = await openHub(database(), noLimits, { embedder: named('first') })
    expect((await again.request('GET', '/readyz')).status).toBe(200)
  })
})

it('a command with another model leaves the one of a hub that has no vectors yet', async () => {
  const dataFolder = temporaryFolder()
  const own = parseConfig({ dataFolder, embedding: { provider: 'fake' } })
  const { close, ...dependencies } = await openDependencies(own, () => {})
  await createHub(own, dependencies)
  await close()
  const url = 'http://127.0.0.1:9/v1'
  const other = parseConfig({
    dataFolder,
    embedding: { provider: 'http', url, model: 'other', dimensions: 64 },
  })
  await expect(maintain(other, () => {})).rejects.toMatchObject({
    code: MemoryErrorCode.CONFLICT,
    message: expect.stringContaining('give it the settings of the hub'),
  })
  await maintain(own, () => {})
})

// server-database.ts says when there is no server.
it.skipIf(!serverUrl)(
  'a write that waits for the exchange of vectors brings none of the old model',
  async () => {
    const server = await openServerDatabase()
    onTestFinished(() => server.close())
    const hub = await openHub(server.database, noLimits, { embedder: named('first') })
    const ada = await hub.agent('ada', 1)
    const mover = await openPostgres({ url: server.url, migrations: false, connections: 1 })
    onTestFinished(() => mover.close())
    // The exchange, held open after its lock.
    let go = (): void => {}
    const held = new Promise<void>((resolve) => {
      go = resolve
    })
    let locked = (): void => {}
    const isLocked = new Promise<void>((resolve) => {
      locked = resolve
    })
    const moved = mover.database.transaction(async (transaction) => {
      await transaction.execute(sql`lock table memories in share row exclusive mode`)
      locked()
      await held
      await transaction.update(systemConfig).set({ embeddingModel: 'second' })
    })
    await isLocked
    const saved = ada.save({ content: lesson('redis'), tags }).catch((error: unknown) => error)
    await until(
      () =>
        server.database.$count(
          sql`pg_stat_activity`,
          sql`datname = current_database() and wait_event_type = 'Lock' and query like '%with claimed as%'`,
        ),
      (count) => count === 1,
    )
    go()
    await moved
    expect(await saved).toMatchObject({ code: MemoryErrorCode.UNAVAILABLE })
    expect(await server.database.$count(memories)).toBe(0)
  },
)
