import { expect, it } from 'vitest'
import { createTicker } from '../conformance/ticker.ts'
import { MemoryError, MemoryErrorCode } from '../errors.ts'
import type { MemoryStore } from '../memory-store.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { createMemoryManager } from './create-memory-manager.ts'
import { rotateEncryption } from './rotate-encryption.ts'

const bytes = (fill: number): Uint8Array => new Uint8Array(32).fill(fill)
const first = { current: 'first', keys: { first: bytes(1) } }
const both = { current: 'second', keys: { first: bytes(1), second: bytes(2) } }
const second = { current: 'second', keys: { second: bytes(2) } }
const day = 24 * 60 * 60 * 1000

async function sealed(count: number) {
  const stores = createInMemoryStore()
  const time = createTicker()
  const memory = createMemoryManager({ stores, encryptionKey: first, clock: time.clock })
  for (let i = 0; i < count; i++) {
    await memory.write('long-term', `key ${i}`, { n: i }, { encrypt: true, tags: ['t'] })
    time.advance(1)
  }
  await memory.write('long-term', 'plain', { encrypted: true })
  return { stores, time, memory }
}

it('seals everything anew, archive included, and leaves times and plain values as they were', async () => {
  const { stores, time, memory } = await sealed(120)
  await memory.write('episodic', 'old', 'private', { encrypt: true })
  time.advance(100 * day)
  await memory.cleanup()
  const before = await memory.search('long-term', {}, { limit: 1000, touch: false })
  const result = await rotateEncryption({ stores, encryptionKey: both, clock: time.clock })
  expect(result).toEqual({ rotated: 121, errors: [] })
  const later = createMemoryManager({ stores, encryptionKey: second, clock: time.clock })
  expect(await later.search('long-term', {}, { limit: 1000, touch: false })).toEqual(before)
  expect(await later.restore('episodic', 'old')).toBe(true)
  expect(await later.read('episodic', 'old')).toBe('private')
  expect(await rotateEncryption({ stores, encryptionKey: both })).toEqual({ rotated: 0, errors: [] })
})

it('reads and writes many entries at a time', async () => {
  const { stores } = await sealed(1000)
  const counts = { find: 0, commit: 0 }
  const counting: MemoryStore = {
    ...stores,
    find(query) {
      counts.find++
      return stores.find(query)
    },
    commit(changes) {
      counts.commit++
      return stores.commit(changes)
    },
  }
  expect(await rotateEncryption({ stores: counting, encryptionKey: both })).toEqual({
    rotated: 1000,
    errors: [],
  })
  expect(counts.find).toBeLessThan(15)
  expect(counts.commit).toBeLessThan(30)
})

it('leaves an access that is made meanwhile as it is', async () => {
  const stores = createInMemoryStore()
  const time = createTicker()
  const memory = createMemoryManager({ stores, encryptionKey: first, clock: time.clock })
  const hour = 3600_000
  await memory.write('short-term', 's', 'private', { encrypt: true, ttl: hour })
  time.advance(hour - 1000)
  const inUse: MemoryStore = {
    ...stores,
    async find(query) {
      const page = await stores.find(query)
      await stores.touch([{ namespace: 'default', scope: 'short-term', key: 's' }], time.clock())
      return page
    },
  }
  await rotateEncryption({ stores: inUse, encryptionKey: both, clock: time.clock })
  time.advance(hour - 1)
  const later = createMemoryManager({ stores, encryptionKey: second, clock: time.clock })
  expect(await later.read('short-term', 's')).toBe('private')
})

it('lists what it cannot open and seals the rest', async () => {
  const { stores, memory } = await sealed(60)
  const stranger = createMemoryManager({
    stores,
    encryptionKey: { current: 'lost', keys: { lost: bytes(9) } },
  })
  await stranger.write('long-term', 'foreign', 'x', { encrypt: true })
  const result = await rotateEncryption({ stores, encryptionKey: both })
  expect(result.rotated).toBe(60)
  expect(result.errors).toEqual([
    { scope: 'long-term', key: 'foreign', message: expect.stringContaining("key 'lost'") },
  ])
  expect(await stranger.read('long-term', 'foreign')).toBe('x')
  await memory.close()
})

it('asks for no more at a time than a store gives, however much it cannot open, and misses nothing that moves up', async () => {
  const { stores, memory } = await sealed(70)
  const stranger = createMemoryManager({
    stores,
    encryptionKey: { current: 'lost', keys: { lost: bytes(9) } },
    clock: () => 0,
  })
  for (let i = 0; i < 130; i++) await stranger.write('long-term', `foreign ${100 + i}`, i, { encrypt: true })
  let calls = 0
  const asked: number[] = []
  const moving: MemoryStore = {
    ...stores,
    async find(query) {
      asked.push(query.limit)
      // What is passed over is deleted by somebody, and what comes behind it moves up.
      if (++calls === 5) for (let i = 0; i < 90; i++) await stranger.delete('long-term', `foreign ${100 + i}`)
      return stores.find(query)
    },
  }
  const result = await rotateEncryption({ stores: moving, encryptionKey: both })
  expect(result.rotated).toBe(70)
  // Fifty had been looked at when they went; of the others each is.
  expect(result.errors).toHaveLength(50 + 40)
  expect(Math.max(...asked)).toBeLessThanOrEqual(100)
  expect(asked.length).toBeLessThan(40)
  await memory.close()
})

it('does not undo what is written while it runs', async () => {
  const { stores, memory } = await sealed(3)
  let interfered = false
  const interfering: MemoryStore = {
    ...stores,
    async commit(changes) {
      if (!interfered) {
        interfered = true
        await memory.write('long-term', 'key 0', { n: 'newer' }, { encrypt: true })
      }
      await stores.commit(changes)
    },
  }
  const result = await rotateEncryption({ stores: interfering, encryptionKey: both })
  expect(result).toEqual({ rotated: 3, errors: [] })
  const later = createMemoryManager({ stores, encryptionKey: second })
  expect(await later.read('long-term', 'key 0')).toEqual({ n: 'newer' })
})

it('lists at last what others keep writing, and seals the rest', async () => {
  const { stores } = await sealed(3)
  const overtaken: MemoryStore = {
    ...stores,
    async commit(changes) {
      const keys = changes.map((change) => ('put' in change ? change.put.key : change.remove.key))
      if (keys.includes('key 0')) throw new MemoryError('written meanwhile', MemoryErrorCode.CONFLICT)
      await stores.commit(changes)
    },
  }
  const result = await rotateEncryption({ stores: overtaken, encryptionKey: both })
  const failure = { scope: 'long-term', key: 'key 0', message: 'written meanwhile' }
  expect(result).toEqual({ rotated: 2, errors: [failure] })
})

it('seals what stands in place of an archived copy that it cannot open', async () => {
  const { stores, time, memory } = await sealed(0)
  const lost = { current: 'lost', keys: { lost: bytes(9) } }
  const stranger = createMemoryManager({ stores, encryptionKey: lost, clock: time.clock })
  await stranger.write('episodic', 'key', 'old', { encrypt: true })
  time.advance(100 * day)
  await memory.cleanup()
  await memory.write('episodic', 'key', 'new', { encrypt: true })
  const result = await rotateEncryption({ stores, encryptionKey: both, clock: time.clock })
  expect(result).toMatchObject({ rotated: 1, errors: [{ scope: 'episodic', key: 'key' }] })
  const later = createMemoryManager({ stores, encryptionKey: second, clock: time.clock })
  expect(await later.read('episodic', 'key')).toBe('new')
})

it('seals what is restored while it runs', async () => {
  const { stores, time, memory } = await sealed(0)
  await memory.write('episodic', 'old', 'private', { encrypt: true })
  time.advance(100 * day)
  await memory.cleanup()
  const { cold } = stores
  if (!cold) throw new Error('no archive')
  const { find } = cold
  cold.find = async (query) => {
    if (query.scope === 'episodic') await memory.restore('episodic', 'old')
    return find(query)
  }
  const result = await rotateEncryption({ stores, encryptionKey: both, clock: time.clock })
  expect(result).toEqual({ rotated: 1, errors: [] })
  const later = createMemoryManager({ stores, encryptionKey: second, clock: time.clock })
  expect(await later.read('episodic', 'old')).toBe('private')
})

it('seals anew what is archived while it runs', async () => {
  const { stores, time, memory } = await sealed(0)
  await memory.write('episodic', 'old', 'private', { encrypt: true })
  time.advance(100 * day)
  let looks = 0
  const archiving: MemoryStore = {
    ...stores,
    async find(query) {
      if (query.scope === 'episodic' && looks++ === 0) await memory.cleanup()
      return stores.find(query)
    },
  }
  const result = await rotateEncryption({ stores: archiving, encryptionKey: both, clock: time.clock })
  expect(result).toEqual({ rotated: 1, errors: [] })
  const later = createMemoryManager({ stores, encryptionKey: second, clock: time.clock })
  expect(await later.read('episodic', 'old', { includeArchived: true })).toBe('private')
})
