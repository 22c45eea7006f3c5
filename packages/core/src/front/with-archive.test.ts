import { expect, it, vi } from 'vitest'
import type { ColdStore, Entry, MemoryStore } from '../memory-store.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { createMemoryManager } from './create-memory-manager.ts'

const old = { scope: 'episodic', archiveBefore: Number.MAX_SAFE_INTEGER } as const

const removal = [{ operation: 'delete', key: 'key' }] as const

/** A memory whose archive is at hand, and another memory on the same store. */
async function open() {
  const made = createInMemoryStore()
  const cold = { ...(made.cold as ColdStore) }
  const stores: MemoryStore = { ...made, cold }
  const time = { now: 0 }
  const clock = () => time.now
  const [memory, other] = [createMemoryManager({ stores, clock }), createMemoryManager({ stores, clock })]
  await memory.write('episodic', 'key', 'value')
  return { stores, cold, memory, other, time }
}

/** Runs something after the first call of a function that is replaced. */
function afterFirst<Given extends unknown[], Result>(
  call: (...given: Given) => Promise<Result>,
  then: () => Promise<unknown>,
): (...given: Given) => Promise<Result> {
  let calls = 0
  return async (...given) => {
    const result = await call(...given)
    if (calls++ === 0) await then()
    return result
  }
}

it.each(['delete', 'clear'] as const)(
  '%s leaves nothing of what a clean-up moves meanwhile',
  async (call) => {
    const { cold, memory, other } = await open()
    const cleanUp = () => other.cleanup(old)
    // The entry is still there when its copy has just been looked for.
    cold.remove = afterFirst(cold.remove, cleanUp)
    cold.removeAll = afterFirst(cold.removeAll, cleanUp)
    await (call === 'delete' ? memory.delete('episodic', 'key') : memory.clear('episodic'))
    expect(await memory.exists('episodic', 'key')).toBe(false)
    expect(await memory.restore('episodic', 'key')).toBe(false)
  },
)

it.each(['delete', 'clear'] as const)('%s leaves nothing of what is restored meanwhile', async (call) => {
  const { cold, memory, other } = await open()
  await memory.cleanup(old)
  const restore = () => other.restore('episodic', 'key')
  cold.remove = afterFirst(async () => false, restore)
  cold.removeAll = afterFirst(async () => 0, restore)
  await (call === 'delete' ? memory.delete('episodic', 'key') : memory.clear('episodic'))
  expect(await memory.exists('episodic', 'key')).toBe(false)
  expect(await memory.restore('episodic', 'key')).toBe(false)
})

it.each([
  ['before its copy is looked for', 'get'],
  ['once the changes are made', 'commit'],
] as const)('an atomic update leaves nothing of what it deletes and is restored %s', async (_, when) => {
  const { stores, cold, memory, other } = await open()
  await memory.cleanup(old)
  const restore = () => other.restore('episodic', 'key')
  if (when === 'get') cold.get = afterFirst(cold.get, restore)
  else stores.commit = afterFirst(stores.commit, restore)
  await memory.atomicUpdate('episodic', removal)
  expect(await memory.exists('episodic', 'key')).toBe(false)
  expect(await memory.restore('episodic', 'key')).toBe(false)
})

it('an atomic update leaves what is written anew under a key that it deleted', async () => {
  const { stores, cold, memory, other, time } = await open()
  await memory.cleanup(old)
  const write = async () => {
    time.now++
    await other.write('episodic', 'key', 'value')
  }
  stores.commit = afterFirst(stores.commit, write)
  await memory.atomicUpdate('episodic', removal)
  expect(await memory.read('episodic', 'key')).toBe('value')
  expect(await cold.get({ namespace: 'default', scope: 'episodic', key: 'key' }, time.now)).toBe(null)
})

it('says how a hidden copy is restored, and nothing is lost by it', async () => {
  const { memory, time } = await open()
  await memory.cleanup(old)
  await memory.write('episodic', 'key', 'newer')
  await expect(memory.restore('episodic', 'key')).rejects.toThrow('under another key, then here with ttl: 1')
  await memory.write('episodic', 'other key', 'newer')
  await memory.write('episodic', 'key', 'newer', { ttl: 1 })
  time.now++
  expect(await memory.restore('episodic', 'key')).toBe(true)
  expect(await memory.read('episodic', 'key')).toBe('value')
  expect(await memory.read('episodic', 'other key')).toBe('newer')
})

it('says what is left in the archive when an update could not delete it there', async () => {
  const { cold, memory } = await open()
  await memory.cleanup(old)
  cold.commit = async () => {
    throw new Error('the disk is full')
  }
  const updates = [
    { operation: 'set', key: 'new', value: 1 },
    { operation: 'delete', key: 'key' },
  ] as const
  await expect(memory.atomicUpdate('episodic', updates)).rejects.toMatchObject({
    code: 'MEMORY_WRITE_FAILED',
    message: expect.stringContaining('were made, but what they delete may still be in the archive'),
    details: { keys: ['key'] },
  })
  expect(await memory.read('episodic', 'new')).toBe(1)
  expect(await memory.read('episodic', 'key', { includeArchived: true })).toBe('value')
})

it('deletes the archived copies of many entries in one call', async () => {
  const { cold, memory } = await open()
  const keys = Array.from({ length: 20 }, (_, i) => `key ${i}`)
  await memory.batchWrite(
    'episodic',
    keys.map((key) => ({ key, value: 'value' })),
  )
  await memory.cleanup(old)
  const [one, many] = [vi.spyOn(cold, 'remove'), vi.spyOn(cold, 'commit')]
  await memory.atomicUpdate(
    'episodic',
    keys.map((key) => ({ operation: 'delete', key })),
  )
  expect([one.mock.calls.length, many.mock.calls.length]).toEqual([0, 1])
  expect(await memory.search('episodic', {}, { includeArchived: true })).toHaveLength(1)
})

it('looks for what hides archived entries with many reads at a time, and keeps their order', async () => {
  const { stores, memory, time } = await open()
  const keys = Array.from({ length: 100 }, (_, i) => `key ${i}`)
  for (const key of keys) {
    time.now++
    await memory.write('episodic', key, 'value')
  }
  await memory.cleanup(old)
  time.now++
  await memory.write('episodic', 'key 7', 'newer')
  const { get } = stores
  let underWay = 0
  let most = 0
  stores.get = async (...given) => {
    most = Math.max(most, ++underWay)
    return get(...given).finally(() => underWay--)
  }
  const order = { sortBy: 'recency', sortOrder: 'asc', includeArchived: true, limit: 1000 } as const
  const found = await memory.search('episodic', {}, order)
  const archived = keys.filter((key) => key !== 'key 7')
  expect(found.map(({ key }) => key)).toEqual(['key', ...archived, 'key 7'])
  expect(most).toBe(64)
})

it('finds an entry once that is archived during the search', async () => {
  const { stores, memory, other } = await open()
  stores.find = afterFirst(stores.find, () => other.cleanup(old))
  const found = await memory.search('episodic', {}, { includeArchived: true })
  expect(found.map(({ key }) => key)).toEqual(['key'])
})

it('finds an entry that is archived after the look at the archive', async () => {
  const { cold, memory, other, time } = await open()
  await other.write('episodic', 'deleted meanwhile', 'value')
  cold.find = afterFirst(cold.find, async () => {
    await other.delete('episodic', 'deleted meanwhile')
    time.now++
    await other.write('episodic', 'newer', 'value')
    await other.cleanup({ scope: 'episodic', archiveBefore: time.now })
  })
  const found = await memory.search(
    'episodic',
    {},
    { includeArchived: true, sortOrder: 'asc', sortBy: 'recency' },
  )
  expect(found).toMatchObject([{ key: 'key', value: 'value', archived: true }, { key: 'newer' }])
})

it('finds an entry that is restored during the search, before the look at the archive or after it', async () => {
  const { stores, cold, memory, other } = await open()
  const restore = () => other.restore('episodic', 'key')
  const [find, findOld] = [stores.find, cold.find]
  for (const meanwhile of [
    () => Object.assign(stores, { find: afterFirst(find, restore) }),
    () => Object.assign(cold, { find: afterFirst(findOld, restore) }),
  ]) {
    await other.cleanup(old)
    meanwhile()
    const found = await memory.search('episodic', {}, { includeArchived: true })
    expect(found).toMatchObject([{ key: 'key', value: 'value' }])
    expect(found[0]).not.toHaveProperty('archived')
    Object.assign(stores, { find })
    Object.assign(cold, { find: findOld })
  }
})

it('reads an entry that is restored between the look at the store and that at its archive', async () => {
  const { stores, memory, other } = await open()
  await other.cleanup(old)
  stores.get = afterFirst(stores.get, () => other.restore('episodic', 'key'))
  const read = await memory.read('episodic', 'key', { includeArchived: true, includeMetadata: true })
  expect(read).toEqual({ value: 'value', metadata: expect.objectContaining({ accessCount: 1 }) })
})

it('is as sure of a passage that tells no score of its own as of its match', async () => {
  const { stores, memory } = await open()
  const { find } = stores
  stores.find = async (query) =>
    (await find(query)).map(({ passage, ...match }) => ({ ...match, passage: { text: passage?.text ?? '' } }))
  const [match] = await memory.search('episodic', { text: 'value' }, { includeArchived: true })
  expect(match?.confidence).toBeGreaterThan(0)
  expect(match?.passage?.confidence).toBe(match?.confidence)
})

it('tells which entries could not be archived', async () => {
  const { cold, memory } = await open()
  cold.archive = async () => ({ archived: 2, errors: [{ key: 'key', message: 'the disk is full' }] })
  expect(await memory.cleanup(old)).toMatchObject({
    archived: 2,
    errors: [{ scope: 'episodic', key: 'key', message: 'the disk is full' }],
  })
})

it('keeps what is put into the archive as it is, also in place of an earlier copy', async () => {
  const { stores, cold, memory, other } = await open()
  const entry = await stores.get({ namespace: 'default', scope: 'episodic', key: 'key' }, Date.now())
  await other.cleanup(old)
  const copy = { ...(entry as Entry), createdAt: 1, updatedAt: 2, accessedAt: 3, accessCount: 4 }
  await cold.put(copy, { overwrite: true, now: Date.now() })
  const kept = await memory.read('episodic', 'key', { includeMetadata: true, includeArchived: true })
  expect(kept?.metadata).toMatchObject({ createdAt: 1, updatedAt: 2, accessedAt: 3, accessCount: 4 })
})

/** A key whose archived copy is older than what stands in the store. */
async function openWithCopy() {
  const opened = await open()
  await opened.memory.cleanup(old)
  await opened.memory.write('episodic', 'key', 'newer')
  const shown = () => opened.memory.read('episodic', 'key', { includeArchived: true })
  return { ...opened, shown }
}

it('shows no old version of what an atomic update deleted, wherever it fails', async () => {
  const { stores, cold, memory, shown } = await openWithCopy()
  const { commit } = cold
  cold.commit = () => Promise.reject(new Error('no disk'))
  await expect(memory.atomicUpdate('episodic', removal)).rejects.toThrow('no disk')
  expect(await shown()).toBe('newer')
  cold.commit = commit
  stores.commit = () => Promise.reject(new Error('no disk'))
  await expect(memory.atomicUpdate('episodic', removal)).rejects.toThrow('no disk')
  expect(await shown()).toBe('newer')
})

it('puts back what it can of the copies, and tells with the refusal of the store which may be gone', async () => {
  const { cold, memory } = await open()
  const keys = ['a', 'b', 'c']
  const write = (value: string) =>
    memory.batchWrite(
      'episodic',
      keys.map((key) => ({ key, value })),
    )
  await write('older')
  await memory.cleanup(old)
  await write('newer')
  const { put } = cold
  cold.put = (entry, options) =>
    entry.key === 'a' ? Promise.reject(new Error('no disk')) : put(entry, options)
  const updates = keys.map((key) => ({ operation: 'delete', key, ifUpdatedAt: 1 }) as const)
  await expect(memory.atomicUpdate('episodic', updates)).rejects.toMatchObject({
    code: 'MEMORY_CONFLICT',
    message: expect.stringMatching(/read it again; older copies of 1 of the keys may be gone/),
    scope: 'episodic',
    key: 'a',
    details: { errors: [{ key: 'a', message: 'no disk' }] },
  })
  for (const key of ['b', 'c'])
    expect(await cold.get({ namespace: 'default', scope: 'episodic', key }, 0)).toMatchObject({
      value: 'older',
    })
})

it('puts back the copies that an archive deleted before it failed', async () => {
  const { cold, memory } = await openWithCopy()
  const { commit } = cold
  cold.commit = async (changes) => {
    await commit(changes)
    throw new Error('no disk')
  }
  await expect(memory.atomicUpdate('episodic', removal)).rejects.toThrow('no disk')
  expect(await cold.get({ namespace: 'default', scope: 'episodic', key: 'key' }, 0)).toMatchObject({
    value: 'value',
  })
})

it('keeps the archived copy of what an atomic update was not allowed to delete', async () => {
  const { stores, memory, shown } = await openWithCopy()
  const refused = memory.atomicUpdate('episodic', [{ ...removal[0], ifUpdatedAt: 1 }])
  await expect(refused).rejects.toMatchObject({ code: 'MEMORY_CONFLICT' })
  await stores.remove({ namespace: 'default', scope: 'episodic', key: 'key' })
  expect(await shown()).toBe('value')
})

it('keeps what is only archived when the changes beside its deletion are not made', async () => {
  const { stores, cold, memory } = await open()
  await memory.cleanup(old)
  const steps: string[] = []
  const { commit } = cold
  cold.commit = (changes) => {
    steps.push('archive')
    return commit(changes)
  }
  const inStore = stores.commit
  stores.commit = (changes) => {
    steps.push('store')
    return inStore(changes)
  }
  await memory.atomicUpdate('episodic', removal)
  expect(steps).toEqual(['store', 'archive'])
  expect(await memory.read('episodic', 'key', { includeArchived: true })).toBeNull()
})

it('deletes for good what a clean-up archives during an atomic update', async () => {
  const { stores, memory, other } = await open()
  const { commit } = stores
  stores.commit = async (changes) => {
    await other.cleanup(old)
    await commit(changes)
  }
  await memory.atomicUpdate('episodic', removal)
  expect(await memory.read('episodic', 'key', { includeArchived: true })).toBeNull()
})
