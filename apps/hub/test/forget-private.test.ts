import { createMemoryManager } from '@recall/core'
import { createPostgresStore, entries, privateNamespaces } from '@recall/store-postgres'
import { describe, expect, it } from 'vitest'
import { engines, openHub } from './support.ts'
import { useDatabase } from './use-database.ts'

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
