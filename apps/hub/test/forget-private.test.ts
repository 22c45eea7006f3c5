import { createMemoryManager, memoryScopes } from '@recall/core'
import { createPostgresStore, entries, privateNamespaces } from '@recall/store-postgres'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { engines, openHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

/** Where drizzle prepares each statement. */
interface Session {
  prepareQuery(
    query: { sql: string },
    ...given: unknown[]
  ): { execute(...values: unknown[]): Promise<unknown> }
}

describe.each(engines)('private memory of an agent in quarantine, on %s,', (_, open) => {
  const database = useDatabase(open)

  it('is deleted by an administrator, whole, and nothing of others', async () => {
    const hub = await openHub(database())
    const [admin, gone, other] = [
      await hub.agent('admin', 2),
      await hub.agent('gone'),
      await hub.agent('other'),
    ]
    const put = async (key: string, scope: string, namespace: string, archived = false) => {
      const body = { namespace, archived, entry: { key: 'k', value: 'mine' } }
      expect((await hub.request('POST', `/api/v1/private/${scope}/put`, { key, body })).status).toBe(200)
    }
    for (const { key } of [gone, other]) {
      await put(key, 'long-term', 'default')
      await put(key, 'working', 'work')
      await put(key, 'episodic', 'work', true)
      const together = { namespace: 'together', changes: [{ put: { key: 'k', value: 'mine' } }] }
      await hub.request('POST', '/api/v1/private/long-term/commit', { key, body: together })
    }
    const path = `/api/v1/admin/agents/${gone.id}`
    const forget = (key = admin.key, id = gone.id) =>
      hub.request('DELETE', `/api/v1/admin/agents/${id}/private`, { key })
    expect((await forget()).status).toBe(409)
    expect((await forget(other.key)).status).toBe(403)
    expect((await forget(admin.key, crypto.randomUUID())).status).toBe(404)
    await hub.request('POST', `${path}/quarantine`, { key: admin.key })
    expect(await (await forget()).json()).toEqual({ success: true, removed: 4 })
    expect(await (await forget()).json()).toEqual({ success: true, removed: 0 })
    expect((await database().select().from(entries)).map(({ tenant }) => tenant)).toEqual(
      Array(4).fill(other.id),
    )
    expect((await database().select().from(privateNamespaces)).map(({ agentId }) => agentId)).toEqual(
      Array(3).fill(other.id),
    )
    const { agent } = (await (await hub.request('GET', path, { key: admin.key })).json()) as {
      agent: { notes: string[] }
    }
    expect(agent.notes[1]).toMatch(/private memory deleted by admin .*: the agent asked for it$/)
  })

  it('is not written again where another process of the hub still knows its key', async () => {
    const [hub, other] = [await openHub(database()), await openHub(database())]
    const [admin, gone] = [await hub.agent('admin', 2), await hub.agent('gone')]
    const write = async () => {
      const body = { entry: { key: 'k', value: 'mine' } }
      return (await other.request('POST', '/api/v1/private/long-term/put', { key: gone.key, body })).status
    }
    expect(await write()).toBe(200)
    const path = `/api/v1/admin/agents/${gone.id}`
    await hub.request('POST', `${path}/quarantine`, { key: admin.key })
    await hub.request('DELETE', `${path}/private`, { key: admin.key })
    expect(await write()).toBe(403)
    expect(await database().$count(entries)).toBe(0)
  })

  it('is moved no more between the archive and the rest where another process still knows its key', async () => {
    const [hub, other] = [await openHub(database()), await openHub(database())]
    const [admin, gone] = [await hub.agent('admin', 2), await hub.agent('gone')]
    const move = async (call: string, body: object) =>
      (await other.request('POST', `/api/v1/private/episodic/${call}`, { key: gone.key, body })).status
    const archive = { before: Date.now() + 1000, dryRun: false }
    expect(await move('put', { entry: { key: 'k', value: 'mine' } })).toBe(200)
    expect(await move('archive', archive)).toBe(200)
    expect(await move('restore', { key: 'k' })).toBe(200)
    await hub.request('POST', `/api/v1/admin/agents/${gone.id}/quarantine`, { key: admin.key })
    expect([await move('archive', archive), await move('restore', { key: 'k' })]).toEqual([403, 403])
  })

  it('is deleted also where a request under way moves it behind the deletion', async () => {
    const episodes = { namespace: 'default', scope: 'episodic' } as const
    let deletions = 0
    const session = Object.getPrototypeOf((database() as unknown as { session: Session }).session) as Session
    const { prepareQuery } = session
    vi.spyOn(session, 'prepareQuery').mockImplementation(function (this: Session, query, ...given) {
      const prepared = prepareQuery.call(this, query, ...given)
      if (!query.sql.startsWith('delete from "entries"')) return prepared
      const execute = prepared.execute.bind(prepared)
      prepared.execute = async (...values) => {
        const done = await execute(...values)
        // The memory has been gone through, and its archive has not.
        if (++deletions === 3 * memoryScopes.indexOf('episodic') + 1)
          expect(await store.cold.restore({ ...episodes, key: 'k' }, Date.now())).toBe(true)
        return done
      }
      return prepared
    })
    onTestFinished(() => void vi.restoreAllMocks())
    const hub = await openHub(database())
    const [admin, gone] = [await hub.agent('admin', 2), await hub.agent('gone')]
    const store = createPostgresStore(database(), { tenant: gone.id })
    await createMemoryManager({ stores: store }).write('episodic', 'k', 'mine')
    const old = { before: Date.now() + 1000, now: Date.now(), dryRun: false }
    await store.cold.archive({ ...episodes, ...old })
    deletions = 0
    const path = `/api/v1/admin/agents/${gone.id}`
    await hub.request('POST', `${path}/quarantine`, { key: admin.key })
    const forgotten = await hub.request('DELETE', `${path}/private`, { key: admin.key })
    expect(await forgotten.json()).toMatchObject({ removed: 1 })
    expect(await database().$count(entries)).toBe(0)
  })

  it('is found also where a request under way has written it meanwhile, when it is asked for again', async () => {
    const hub = await openHub(database())
    const [admin, gone] = [await hub.agent('admin', 2), await hub.agent('gone')]
    const path = `/api/v1/admin/agents/${gone.id}`
    const forget = async () => (await hub.request('DELETE', `${path}/private`, { key: admin.key })).json()
    await hub.request('POST', `${path}/quarantine`, { key: admin.key })
    expect(await forget()).toMatchObject({ removed: 0 })
    const stores = createPostgresStore(database(), { tenant: gone.id })
    await createMemoryManager({ stores, namespace: 'late' }).write('working', 'k', 'mine')
    expect(await forget()).toMatchObject({ removed: 1 })
    expect(await database().$count(entries)).toBe(0)
  })
})
