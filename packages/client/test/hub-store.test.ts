import { MemoryError, MemoryErrorCode } from '@recall/core'
import { expect, it } from 'vitest'
import { createHubStore } from '../src/hub-store.ts'
import { connectHub } from '../src/index.ts'

it('sends of a vector the digits that a hub keeps', async () => {
  const sent: string[] = []
  const fetch = async (request: Request): Promise<Response> => {
    sent.push(await request.text())
    return Response.json({ entries: 0, bytes: 0, success: true })
  }
  const hub = connectHub({ url: 'https://hub.example', apiKey: 'recall_key', fetch })
  await hub.memory.write('long-term', 'k', 'v', { embedding: [1 / 3, -2 / 3] })
  expect(sent.join()).toContain('"vector":[0.33333333,-0.66666667]')
})

it('sends no text that is that of the value, as the hub makes the same one', async () => {
  const puts: object[] = []
  const fetch = async (request: Request): Promise<Response> => {
    const body = (await request.json()) as { entry?: object; changes?: { put: object }[] }
    puts.push(...(body.entry ? [body.entry] : []), ...(body.changes ?? []).map(({ put }) => put))
    return Response.json({ entries: 0, bytes: 0, success: true })
  }
  const encryptionKey = new Uint8Array(32).fill(1)
  const { memory } = connectHub({ url: 'https://hub.example', fetch, memory: { encryptionKey } })
  const value = { title: 'pool', lines: ['leaks', 'under load'] }
  await memory.write('long-term', 'own', value)
  await memory.batchWrite('long-term', [{ key: 'one', value: 'a text' }])
  await memory.write('long-term', 'other', value, { text: 'pool' })
  await memory.write('long-term', 'unfound', value, { index: false })
  await memory.write('long-term', 'sealed', value, { encrypt: true })
  expect(puts.map((put) => 'text' in put && put.text)).toEqual([false, false, 'pool', '', ''])
})

it('records many accesses in calls that the hub takes', async () => {
  const bodies: { keys: string[] }[] = []
  const store = createHubStore(async (_method, _path, _shape, options) => {
    bodies.push(options?.body as { keys: string[] })
    return {} as never
  })
  const keys = Array.from({ length: 10_500 }, (_, i) => `key-${i}`)
  await store.touch(
    keys.map((key) => ({ namespace: 'default', scope: 'long-term', key })),
    0,
  )
  const sent = bodies.map((body) => body.keys)
  expect(sent.flat()).toEqual(keys)
  expect(Math.max(...sent.map(({ length }) => length))).toBeLessThanOrEqual(10_000)
})

/** A store over a hub that answers so, and what it was asked. */
function storeOf(answer: (body: Record<string, unknown>) => object) {
  const asked: { path: string; body: Record<string, unknown>; repeatable: boolean | undefined }[] = []
  const store = createHubStore(async (_method, path, _shape, { body, repeatable } = {}) => {
    asked.push({ path, body: body as Record<string, unknown>, repeatable })
    return answer(body as Record<string, unknown>) as never
  })
  return { store, asked }
}

const place = { namespace: 'default', scope: 'long-term' } as const
const tooLarge = () => new MemoryError('too large', MemoryErrorCode.QUOTA_EXCEEDED)

it('archives until a call moved less than it may, and counts in one call', async () => {
  const errors = [{ key: 'k', message: 'no' }]
  const left = [1000, 1000, 7]
  const { store, asked } = storeOf(() => ({ archived: left.shift() ?? 0, errors }))
  expect(await store.cold?.archive({ ...place, before: 1, now: 2, dryRun: false })).toEqual({
    archived: 2007,
    errors: [...errors, ...errors, ...errors],
  })
  expect(asked.map(({ body }) => body.limit)).toEqual([1000, 1000, 1000])
  const counting = storeOf(() => ({ archived: 5000, errors: [] }))
  await counting.store.cold?.archive({ ...place, before: 1, now: 2, dryRun: true })
  expect(counting.asked).toMatchObject([{ path: 'private/long-term/archive', body: { dryRun: true } }])
  expect(counting.asked[0]?.body).not.toHaveProperty('limit')
})

it('asks for smaller pages where an answer would be too large', async () => {
  const entries = Array.from({ length: 9 }, (_, key) => ({ entry: { key } }))
  const { store, asked } = storeOf(({ limit, offset }) => {
    if (Number(limit) > 4) throw tooLarge()
    return { found: entries.slice(Number(offset), Number(offset) + Number(limit)) }
  })
  const query = { ...place, now: 0, limit: 9, offset: 0, sortBy: 'recency', sortOrder: 'desc' } as const
  expect(await store.find(query as never)).toEqual(entries)
  expect(asked.map(({ body }) => [body.offset, body.limit])).toEqual([
    [0, 9],
    [0, 5],
    [0, 3],
    [3, 3],
    [6, 3],
  ])
  await expect(storeOf(() => Promise.reject(tooLarge())).store.find(query as never)).rejects.toThrow(
    'too large',
  )
})

it('finds no more than it was asked for where it takes several pages', async () => {
  const entries = Array.from({ length: 20 }, (_, key) => ({ entry: { key } }))
  const { store, asked } = storeOf(({ limit, offset }) => {
    if (Number(limit) > 5) throw tooLarge()
    return { found: entries.slice(Number(offset), Number(offset) + Number(limit)) }
  })
  const query = { ...place, now: 0, limit: 9, offset: 2, sortBy: 'recency', sortOrder: 'desc' } as const
  expect(await store.find(query as never)).toEqual(entries.slice(2, 11))
  expect(asked.map(({ body }) => [body.offset, body.limit])).toEqual([
    [2, 9],
    [2, 5],
    [7, 4],
  ])
})

it('sends which version is expected, which vectors the units have, and whether the archive is meant', async () => {
  const { store, asked } = storeOf(() => ({ success: true, entry: null }))
  const embedding = { model: 'm', vector: [1 / 3], units: [[1 / 3], [1]] }
  const put = { ...place, key: 'k', value: 1, text: '1', embedding } as never
  await store.commit([{ put, options: { overwrite: true, now: 7 }, expected: { updatedAt: 3 } }])
  await store.get({ ...place, key: 'k' }, 7)
  await store.cold?.get({ ...place, key: 'k' }, 7)
  const sent = { model: 'm', vector: [0.33333333], units: [[0.33333333], [1]] }
  expect(asked[0]?.body).toMatchObject({
    changes: [{ put: { embedding: sent }, expected: { updatedAt: 3 } }],
  })
  expect(asked.map(({ body }) => body.archived)).toEqual([false, false, true])
})

it('repeats what does no more the second time', async () => {
  const { store, asked } = storeOf(() => ({ success: true, removed: 0, restored: true, stamp: null }))
  const entry = { ...place, key: 'k', value: 1, text: '1' } as never
  await store.put(entry, { overwrite: true, now: 7 })
  await store.put(entry, { overwrite: false, now: 7 })
  await store.remove({ ...place, key: 'k' })
  await store.removeAll(place)
  await store.sweep({ ...place, now: 7, dryRun: false })
  await store.stamp?.({ ...place, key: 'k' })
  await store.touch([{ ...place, key: 'k' }], 7)
  await store.cold?.restore({ ...place, key: 'k' }, 7)
  expect(asked.map(({ path, repeatable }) => [path.split('/').at(-1), repeatable])).toEqual([
    ['put', true],
    ['put', false],
    ['remove', true],
    ['remove-all', true],
    ['sweep', true],
    ['stamp', true],
    ['touch', false],
    ['restore', false],
  ])
})

it('reads fewer at once where an answer would be too large', async () => {
  const { store } = storeOf(({ key, keys }) => {
    if (keys === undefined) return { entry: { key } }
    const several = keys as string[]
    if (several.length > 2) throw tooLarge()
    return { entries: several.map((each) => ({ key: each })) }
  })
  const keys = ['a', 'b', 'c', 'd', 'e']
  const found = await Promise.all(keys.map((key) => store.get({ ...place, key }, 0)))
  expect(found.map((entry) => entry?.key)).toEqual(keys)
})

it('repeats no commit that could conflict with itself, and sends the time of its first write', async () => {
  const { store, asked } = storeOf(() => ({ success: true }))
  const remove = { ...place, key: 'gone' }
  const put = { ...place, key: 'new', value: 1, text: '1' } as never
  await store.commit([{ remove }, { put, options: { overwrite: true, now: 7 } }])
  await store.commit([{ put, options: { overwrite: false, now: 7 } }])
  await store.commit([{ remove, expected: { updatedAt: 3 } }])
  await store.commit([])
  expect(asked.map(({ body, repeatable }) => [body.now, repeatable])).toEqual([
    [7, true],
    [7, false],
    [undefined, false],
  ])
})
