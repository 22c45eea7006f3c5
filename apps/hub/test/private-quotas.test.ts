import { setTimeout } from 'node:timers/promises'
import { MemoryErrorCode } from '@recall/core'
import { type Database, privateNamespaces } from '@recall/store-postgres'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { engines, noLimits, openHub, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const privateBytes = { working: 1000, 'short-term': 1000, 'long-term': 1000, episodic: 1000 }

/** In JSON, and together with its key of one letter. */
const ofBytes = (bytes: number): string => 'v'.repeat(bytes - 3)

describe.each(engines)('the quota of private memory on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  let key: string
  beforeEach(async () => {
    hub = await openHub(database(), { ...noLimits, privateBytes })
    key = (await hub.agent('ada')).key
  })

  const send = (operation: string, body: unknown) =>
    hub.request('POST', `/api/v1/private/working/${operation}`, { key, body })
  const put = async (entry: object, place: object = {}) => (await send('put', { ...place, entry })).status
  /** The text of a value is kept beside it, unless another one is given. */
  const text = ''

  it('counts all that is sent, in the write itself', async () => {
    for (const more of [
      { text: 't'.repeat(1000) },
      { text, tags: ['a'.repeat(200), ...Array.from({ length: 9 }, (_, i) => `${i}`.repeat(100))] },
      { text, type: 't'.repeat(1000) },
      { text, embedding: { model: 'm', vector: Array.from({ length: 250 }, () => 1) } },
    ]) {
      const answer = await send('put', { entry: { key: 'k', value: 1, ...more } })
      expect(answer.status).toBe(413)
      expect(await answer.json()).toMatchObject({
        code: MemoryErrorCode.QUOTA_EXCEEDED,
        detail: expect.stringMatching(/^the working memory .* 1000 bytes .* in each namespace/),
      })
    }
    expect(await (await send('stats', {})).json()).toEqual({ entries: 0, bytes: 0 })
    expect(await put({ key: 'k', value: ofBytes(1000), text })).toBe(200)
    expect(await (await send('stats', {})).json()).toEqual({ entries: 1, bytes: 999 })
  })

  it('lets what is there be written again, and does not let many in at the same moment', async () => {
    expect(await put({ key: 'k', value: ofBytes(600), text })).toBe(200)
    expect(await put({ key: 'k', value: ofBytes(600), text })).toBe(200)
    expect((await send('remove', { key: 'k' })).status).toBe(200)
    const together = ['a', 'b', 'c', 'd'].map((name) => put({ key: name, value: ofBytes(600), text }))
    expect((await Promise.all(together)).sort()).toEqual([200, 413, 413, 413])
  })

  it('is not used up by what has expired', async () => {
    let now = Date.UTC(2026, 0, 1)
    hub = await openHub(database(), { ...noLimits, privateBytes }, { clock: () => now })
    expect(await put({ key: 'a', value: ofBytes(600), text, ttl: 1000 })).toBe(200)
    now += 999
    expect(await put({ key: 'b', value: ofBytes(600), text })).toBe(413)
    now += 1
    expect(await put({ key: 'b', value: ofBytes(600), text, ttl: 1000 })).toBe(200)
    expect(await put({ key: 'c', value: ofBytes(600), text })).toBe(413)
    now += 1000
    const commit = await send('commit', {
      changes: [{ put: { key: 'c', value: ofBytes(600), text, ttl: 1 } }],
    })
    expect(commit.status).toBe(200)

    now += 1
    // By the clock of another hub, or of the client, it may be there still.
    now += 60 * 60 * 1000 - 1
    expect(await hub.maintain()).toMatchObject({ expiredEntries: 0 })
    now += 1
    expect(await hub.maintain()).toMatchObject({ expiredEntries: 1 })
    expect(await (await send('stats', {})).json()).toEqual({ entries: 0, bytes: 0 })
  })

  it('is not used up by what has expired in the archive, or where something is restored to', async () => {
    let now = Date.UTC(2026, 0, 1)
    hub = await openHub(database(), { ...noLimits, privateBytes }, { clock: () => now })
    const archive = async () => (await send('archive', { before: now })).status
    const restore = async () => (await send('restore', { key: 'b' })).status
    expect(await put({ key: 'a', value: ofBytes(600), text, ttl: 1000 }, { archived: true })).toBe(200)
    expect(await put({ key: 'b', value: ofBytes(600), text })).toBe(200)
    now += 999
    expect(await archive()).toBe(413)
    now += 1
    expect(await archive()).toBe(200)
    expect(await put({ key: 'c', value: ofBytes(600), text, ttl: 1000 })).toBe(200)
    now += 999
    expect(await restore()).toBe(413)
    now += 1
    expect(await restore()).toBe(200)
  })

  it('is counted for the archive by itself, where commits to it go as well', async () => {
    const archived = { archived: true }
    expect(await put({ key: 'k', value: ofBytes(1000), text })).toBe(200)
    const statuses: number[] = []
    for (const name of ['a', 'b', 'c', 'd'])
      statuses.push(await put({ key: name, value: ofBytes(390), text }, archived))
    expect(statuses).toEqual([200, 200, 413, 413])
    const commit = (changes: object[]) => send('commit', { ...archived, changes })
    const moved = { put: { key: 'c', value: ofBytes(390), text } }
    const refused = await commit([moved])
    expect([refused.status, await refused.json()]).toMatchObject([
      413,
      { detail: expect.stringMatching(/^the archive of the working memory .* clean up there first/) },
    ])
    expect((await commit([{ remove: 'a' }, moved])).status).toBe(200)
    const found = (await (await send('find', archived)).json()) as { found: { entry: { key: string } }[] }
    expect(found.found.map(({ entry }) => entry.key).sort()).toEqual(['b', 'c'])
    expect(await (await send('stats', {})).json()).toMatchObject({ entries: 1 })
  })

  it('gives an agent so many namespaces and no more, however they are filled and emptied', async () => {
    const narrow = await openHub(hub.database, { ...noLimits, privateNamespaces: 2 })
    const agent = await narrow.agent('ada')
    const inNamespace = (namespace: string) =>
      narrow.request('POST', '/api/v1/private/working/put', {
        key: agent.key,
        body: { namespace, entry: { key: 'k', value: 1 }, overwrite: true },
      })
    const statuses = async (...namespaces: string[]): Promise<number[]> => {
      const answered: number[] = []
      for (const each of namespaces) answered.push((await inNamespace(each)).status)
      return answered
    }
    expect(await statuses('one', 'two', 'one', 'three', 'two')).toEqual([200, 200, 200, 413, 200])
    const refused = (await (await inNamespace('three')).json()) as { code: string; detail: string }
    expect(refused).toMatchObject({ code: MemoryErrorCode.QUOTA_EXCEEDED })
    expect(refused.detail).toContain('2 namespaces')
    const together = { namespace: 'three', changes: [{ put: { key: 'k', value: 1 } }] }
    const commit = { key: agent.key, body: together }
    expect((await narrow.request('POST', '/api/v1/private/working/commit', commit)).status).toBe(413)

    const other = { key: (await narrow.agent('bob')).key, body: { ...together, namespace: 'one' } }
    expect((await narrow.request('POST', '/api/v1/private/working/commit', other)).status).toBe(200)
    const emptied = { namespace: 'one', key: 'k' }
    await narrow.request('POST', '/api/v1/private/working/remove', { key: agent.key, body: emptied })
    expect(await statuses('three')).toEqual([413])
    await narrow.maintain()
    expect(await statuses('🐘'.repeat(500), 'two', 'one')).toEqual([200, 200, 413])
  })

  it('leaves open the namespaces that hold something, also where their place was given to another', async () => {
    const narrow = await openHub(hub.database, { ...noLimits, privateNamespaces: 1 })
    const agent = await narrow.agent('ada')
    const putIn = async (namespace: string) => {
      const body = { namespace, entry: { key: 'k', value: 1 } }
      return (await narrow.request('POST', '/api/v1/private/working/put', { key: agent.key, body })).status
    }
    expect(await putIn('one')).toBe(200)
    // As maintenance frees a place before the first write is there.
    await database().update(privateNamespaces).set({ namespace: 'two' })
    expect([await putIn('one'), await putIn('three')]).toEqual([200, 413])
  })

  it('may be written to first by two at the same moment, also where it is the last that an agent may have', async () => {
    const { key, id } = await hub.agent('ada')
    const namespace = 'one'
    // Another process notes it after this one has looked, and before its write is there.
    const transaction: Database['transaction'] = async (...given) => {
      await database().insert(privateNamespaces).values({ agentId: id, namespace }).onConflictDoNothing()
      return database().transaction(...given)
    }
    const narrow = await openHub(database(), { ...noLimits, privateNamespaces: 1 })
    const late: Database = Object.create(database(), { transaction: { value: transaction } })
    const via = await openHub(late, { ...noLimits, privateNamespaces: 1 })
    await database().delete(privateNamespaces)
    const put = async (to: TestHub, namespace: string) => {
      const body = { namespace, entry: { key: 'k', value: 1 } }
      return (await to.request('POST', '/api/v1/private/working/put', { key, body })).status
    }
    expect([await put(via, namespace), await put(narrow, 'two')]).toEqual([200, 413])
  })

  it('is limited for all namespaces of an agent together, which may delete what is beyond', async () => {
    const { key } = await hub.agent('eve')
    /** Each is sent to another process: what one has counted is known to it for a while. */
    const inProcess = async (operation: string, body: object): Promise<number> => {
      const process = await openHub(hub.database, { ...noLimits, privateBytes, privateTotalBytes: 1500 })
      return (await process.request('POST', `/api/v1/private/working/${operation}`, { key, body })).status
    }
    const fill = (namespace: string): Promise<number> =>
      inProcess('put', { namespace, entry: { key: 'k', value: ofBytes(900), text } })
    expect(await fill('one')).toBe(200)
    expect(await fill('two')).toBe(200)
    expect(await fill('three')).toBe(413)
    expect(await fill('one')).toBe(413)
    const change = (namespace: string, made: object) => inProcess('commit', { namespace, changes: [made] })
    expect(await change('one', { put: { key: 'k', value: 1 } })).toBe(413)
    expect(await change('two', { remove: 'k' })).toBe(200)
    expect(await fill('three')).toBe(200)
    expect(await put({ key: 'k', value: 1 })).toBe(200)
  })

  it('is counted for all namespaces together every ten seconds, not at each write', async () => {
    let later = 0
    const clock = performance.now.bind(performance)
    const spy = vi.spyOn(performance, 'now').mockImplementation(() => clock() + later)
    onTestFinished(() => spy.mockRestore())
    const counting = await openHub(hub.database, { ...noLimits, privateBytes, privateTotalBytes: 800 })
    const fill = async (namespace: string) => {
      // The cache reads the clock once a millisecond at most.
      await setTimeout(5)
      const body = { namespace, entry: { key: 'k', value: ofBytes(900), text } }
      return (await counting.request('POST', '/api/v1/private/working/put', { key, body })).status
    }
    expect([await fill('one'), await fill('two')]).toEqual([200, 200])
    later = 9000
    expect(await fill('three')).toBe(200)
    later = 10_001
    expect(await fill('four')).toBe(413)
  })

  it('gives an agent no namespace more when it asks for many at once', async () => {
    const narrow = await openHub(hub.database, { ...noLimits, privateNamespaces: 2 })
    const { key } = await narrow.agent('ada')
    const puts = Array.from({ length: 10 }, (_, i) =>
      narrow.request('POST', '/api/v1/private/working/put', {
        key,
        body: { namespace: `n${i}`, entry: { key: 'k', value: 1 }, overwrite: true },
      }),
    )
    const statuses = (await Promise.all(puts)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 200, ...Array(8).fill(413)])
  })
})

describe.each(engines)('an answer of private memory on %s', (_, open) => {
  const database = useDatabase(open)

  it('is refused when its entries are more than four full bodies, which the client asks for in parts', async () => {
    const hub = await openHub(database(), { ...noLimits, maxBody: 5000 })
    const { key, memory } = await hub.agent('ada')
    const keys = Array.from({ length: 11 }, (_, i) => `note ${i}`)
    for (const name of keys) await memory.write('long-term', name, `harbour ${name} ${'v'.repeat(2000)}`)
    const answer = await hub.request('POST', '/api/v1/private/long-term/find', { key, body: { limit: 11 } })
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({
      code: MemoryErrorCode.QUOTA_EXCEEDED,
      detail: expect.stringMatching(/^these 11 entries hold \d+ bytes, more than the 20000 of one answer/),
    })
    const repeated = { keys: Array(11).fill('note 1') }
    const batch = await hub.request('POST', '/api/v1/private/long-term/get-many', { key, body: repeated })
    expect(batch.status).toBe(413)
    const same = await Promise.all(repeated.keys.map((name) => memory.read('long-term', name)))
    expect(new Set(same).size).toBe(1)
    for (const query of [{}, { text: 'harbour' }])
      expect((await memory.search('long-term', query, { limit: 11 })).map((each) => each.key).sort()).toEqual(
        [...keys].sort(),
      )
    const values = await Promise.all(keys.map((name) => memory.read<string>('long-term', name)))
    expect(values.map((value) => value?.split(' ').slice(1, 3).join(' '))).toEqual(keys)
    await memory.close()
  })
})
