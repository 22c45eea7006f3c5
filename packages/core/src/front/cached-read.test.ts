import { expect, it, onTestFinished, vi } from 'vitest'
import { createTicker } from '../conformance/ticker.ts'
import type { MemoryStore } from '../memory-store.ts'
import { createMemoryCache } from '../protocol/memory-cache.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import type { CachedEntry } from './cached-read.ts'
import { createMemoryManager } from './create-memory-manager.ts'

function cached() {
  const stores = createInMemoryStore()
  const time = createTicker()
  const get = vi.spyOn(stores, 'get')
  const memory = createMemoryManager({ stores, clock: time.clock, cache: createMemoryCache() })
  const other = createMemoryManager({ stores, clock: time.clock })
  return { stores, time, get, memory, other }
}

it('answers again what nobody has written since, and counts it as an access', async () => {
  const { get, memory } = cached()
  await memory.write('long-term', 'key', { list: [1] })
  for (let i = 0; i < 5; i++) expect(await memory.read('long-term', 'key')).toEqual({ list: [1] })
  expect(get).toHaveBeenCalledTimes(1)
  const record = await memory.read('long-term', 'key', { includeMetadata: true })
  expect(record?.metadata.accessCount).toBe(6)
})

it('sees every write, its own and those of others', async () => {
  const { memory, other } = cached()
  for (const writer of [memory, other]) {
    await writer.write('long-term', 'key', 1)
    expect(await memory.read('long-term', 'key')).toBe(1)
    await writer.write('long-term', 'key', 2)
    expect(await memory.read('long-term', 'key')).toBe(2)
    await writer.atomicUpdate('long-term', [{ operation: 'set', key: 'key', value: 3 }])
    expect(await memory.read('long-term', 'key')).toBe(3)
    await writer.delete('long-term', 'key')
    expect(await memory.read('long-term', 'key')).toBeNull()
    await writer.write('long-term', 'key', 4)
    await writer.clear('long-term')
    expect(await memory.read('long-term', 'key')).toBeNull()
  }
})

it('expires and slides as the store does', async () => {
  const { memory, other, time } = cached()
  await memory.write('short-term', 'key', 1, { ttl: 1000 })
  for (let i = 0; i < 5; i++) {
    expect(await memory.read('short-term', 'key')).toBe(1)
    time.advance(900)
  }
  expect(await other.exists('short-term', 'key')).toBe(true)
  time.advance(100)
  expect(await memory.read('short-term', 'key')).toBeNull()
})

it('hands out copies', async () => {
  const { memory } = cached()
  await memory.write('long-term', 'key', { list: [1] })
  for (let i = 0; i < 3; i++) {
    const value = await memory.read<{ list: number[] }>('long-term', 'key')
    value?.list.push(2)
    expect(value?.list).toEqual([1, 2])
  }
})

it('keeps no encrypted value and nothing beyond its size', async () => {
  const cache = createMemoryCache({ maxBytes: 100 })
  const set = vi.spyOn(cache, 'set')
  const encryptionKey = new Uint8Array(32)
  const memory = createMemoryManager({ stores: createInMemoryStore(), cache, encryptionKey })
  await memory.write('long-term', 'sealed', 1, { encrypt: true })
  expect(await memory.read('long-term', 'sealed')).toBe(1)
  expect(set).not.toHaveBeenCalled()
  for (const key of ['a', 'b', 'c']) {
    await memory.write('long-term', key, key.repeat(50))
    expect(await memory.read('long-term', key)).toBe(key.repeat(50))
  }
  expect((cache as unknown as { size: number }).size).toBe(1)
})

it('keeps nothing but what a read that it answers needs', async () => {
  const cache = new Map<string, CachedEntry>()
  const memory = createMemoryManager({ stores: createInMemoryStore(), cache })
  await memory.write('long-term', 'key', 'value', { text: 'a text', embedding: [1, 0], ttl: 1000 })
  for (let i = 0; i < 2; i++) expect(await memory.read('long-term', 'key')).toBe('value')
  const expiresAt = expect.any(Number)
  const entry = { value: 'value', ttl: 1000, expiresAt }
  expect([...cache.values()]).toEqual([{ entry, stamp: expect.any(String) }])
})

it('keeps apart what two stores hold under one key, also in one cache', async () => {
  const cache = createMemoryCache()
  const [first, second] = [1, 2].map(() => createMemoryManager({ stores: createInMemoryStore(), cache }))
  await first?.write('long-term', 'key', 'of the first')
  await second?.write('long-term', 'key', 'of the second')
  expect(await first?.read('long-term', 'key')).toBe('of the first')
  expect(await second?.read('long-term', 'key')).toBe('of the second')
})

it('caches for a store that is an object of a class', async () => {
  const inner = createInMemoryStore()
  const bound = (name: keyof MemoryStore) => ({
    value(this: Own, ...given: unknown[]) {
      this.calls.push(name)
      return Reflect.apply(inner[name] as (...given: unknown[]) => unknown, inner, given)
    },
  })
  class Own {
    readonly name = 'own'
    readonly capabilities = inner.capabilities
    readonly calls: string[] = []
  }
  for (const name of ['put', 'get', 'touch', 'stamp', 'stats', 'close'] as const)
    Object.defineProperty(Own.prototype, name, bound(name))
  const own = new Own()
  const memory = createMemoryManager({ stores: own as unknown as MemoryStore, cache: createMemoryCache() })
  await memory.write('long-term', 'key', 1)
  for (let i = 0; i < 3; i++) expect(await memory.read('long-term', 'key')).toBe(1)
  await memory.close()
  expect(own.calls.filter((call) => call === 'get')).toHaveLength(1)
})

it('counts later what could not be counted at first, at the time of the last access', async () => {
  const { stores, memory, other, time } = cached()
  await memory.write('long-term', 'key', 1)
  for (let i = 0; i < 3; i++) {
    time.advance(100)
    await memory.read('long-term', 'key')
  }
  const lastAccess = time.clock()
  time.advance(100)
  vi.spyOn(stores, 'touch').mockRejectedValueOnce(new Error('away'))
  await expect(memory.search('long-term', {})).rejects.toThrow('away')
  expect(await memory.exists('long-term', 'key')).toBe(true)
  const [match] = await other.search('long-term', {}, { touch: false })
  expect(match?.metadata).toMatchObject({ accessCount: 3, accessedAt: lastAccess })
})

it('answers nothing that was written as it was read, and deleted since', async () => {
  const { stores, memory, other } = cached()
  const { stamp } = stores
  vi.spyOn(stores, 'stamp').mockImplementationOnce(async (address) => {
    const before = await stamp?.(address)
    await other.write('long-term', 'key', 1)
    return before ?? null
  })
  expect(await memory.read('long-term', 'key')).toBe(1)
  await other.delete('long-term', 'key')
  expect(await memory.read('long-term', 'key')).toBeNull()
})

it('closes no store while accesses are being counted', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const sound = createInMemoryStore()
  const order: string[] = []
  let counted = (): void => {}
  const stores: MemoryStore = {
    ...sound,
    async touch(...given) {
      if (order.length > 0) {
        order.push('counting')
        await new Promise<void>((resolve) => {
          counted = resolve
        })
        order.push('counted')
      }
      return sound.touch(...given)
    },
    async close() {
      order.push('closed')
      return sound.close()
    },
  }
  const memory = createMemoryManager({ stores, cache: createMemoryCache() })
  await memory.write('long-term', 'key', 1)
  await memory.read('long-term', 'key')
  await memory.read('long-term', 'key')
  order.push('read')
  await vi.advanceTimersByTimeAsync(999)
  expect(order).toEqual(['read'])
  await vi.advanceTimersByTimeAsync(1)
  expect(order).toEqual(['read', 'counting'])
  const closed = memory.close()
  await vi.advanceTimersByTimeAsync(0)
  counted()
  await closed
  expect(order).toEqual(['read', 'counting', 'counted', 'closed'])
})

it('counts by itself after a second, again and again, and goes on where it cannot', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { stores, memory, other } = cached()
  await memory.write('long-term', 'key', 1)
  await memory.read('long-term', 'key')
  const countIs = async (count: number) => {
    const [match] = await other.search('long-term', {}, { touch: false })
    expect(match?.metadata.accessCount).toBe(count)
  }
  await memory.read('long-term', 'key')
  await vi.advanceTimersByTimeAsync(1000)
  await countIs(2)
  await memory.read('long-term', 'key')
  vi.spyOn(stores, 'touch').mockRejectedValueOnce(new Error('away'))
  await vi.advanceTimersByTimeAsync(1000)
  await countIs(2)
  await memory.read('long-term', 'key')
  await vi.advanceTimersByTimeAsync(1000)
  await countIs(4)
})

it('keeps apart what two namespaces hold under one key, also with equal stamps', async () => {
  const stores = createInMemoryStore()
  stores.stamp = async () => 'always the same'
  const cache = createMemoryCache()
  const [ada, ben] = ['ada', 'ben'].map((namespace) => createMemoryManager({ stores, cache, namespace }))
  await ada?.write('long-term', 'key', 'of ada')
  await ben?.write('long-term', 'key', 'of ben')
  expect(await ada?.read('long-term', 'key')).toBe('of ada')
  expect(await ben?.read('long-term', 'key')).toBe('of ben')
})

it('archives and restores as the store does', async () => {
  const { memory, time } = cached()
  await memory.write('episodic', 'key', 1)
  expect(await memory.read('episodic', 'key')).toBe(1)
  time.advance(1)
  expect(await memory.cleanup({ archiveBefore: time.clock() })).toMatchObject({ archived: 1 })
  expect(await memory.read('episodic', 'key')).toBeNull()
  expect(await memory.restore('episodic', 'key')).toBe(true)
  expect(await memory.read('episodic', 'key')).toBe(1)
})

it('counts the accesses of each scope of a store by themselves', async () => {
  const { stores, memory } = cached()
  const touch = vi.spyOn(stores, 'touch')
  for (const scope of ['long-term', 'episodic'] as const) {
    await memory.write(scope, 'key', 1)
    await memory.read(scope, 'key')
  }
  for (const scope of ['long-term', 'episodic', 'long-term'] as const) await memory.read(scope, 'key')
  touch.mockClear()
  await memory.exists('working', 'key')
  expect(touch.mock.calls.map(([addresses]) => addresses.map(({ scope }) => scope))).toEqual([
    ['long-term', 'long-term'],
    ['episodic'],
  ])
})

it('counts every access, also those made while others could not be counted', async () => {
  const { stores, memory } = cached()
  await memory.write('long-term', 'key', 1)
  await memory.read('long-term', 'key')
  await memory.read('long-term', 'key')
  const { touch } = stores
  stores.touch = async () => {
    stores.touch = touch
    await memory.read('long-term', 'key')
    throw new Error('away')
  }
  await expect(memory.search('long-term', {})).rejects.toThrow('away')
  const record = await memory.read('long-term', 'key', { includeMetadata: true })
  expect(record?.metadata.accessCount).toBe(4)
})

it('reads, writes and deletes in a store that cannot count, and tells of it where accesses matter', async () => {
  const { stores, memory, other } = cached()
  await memory.write('long-term', 'key', 1)
  await memory.read('long-term', 'key')
  const { touch } = stores
  stores.touch = async () => {
    throw new Error('away')
  }
  await memory.read('long-term', 'key')
  await memory.write('long-term', 'other', 2)
  await memory.delete('long-term', 'other')
  expect(await memory.exists('long-term', 'key')).toBe(true)
  await expect(memory.search('long-term', {})).rejects.toThrow('away')
  const { errors } = await memory.cleanup({ scope: 'long-term' })
  expect(errors).toEqual([{ scope: 'long-term', message: 'away' }])
  stores.touch = touch
  const [match] = await memory.search('long-term', {}, { touch: false })
  expect(match?.metadata.accessCount).toBe(2)
  expect(await other.exists('long-term', 'other')).toBe(false)
})

it('reads no further where very many accesses could not be counted', async () => {
  const { stores, memory } = cached()
  await memory.write('long-term', 'key', 1)
  await memory.read('long-term', 'key')
  vi.spyOn(stores, 'touch').mockRejectedValue(new Error('away'))
  for (let i = 0; i < 10_000; i++) await memory.read('long-term', 'key')
  await expect(memory.read('long-term', 'key')).rejects.toThrow('away')
})

it('closes a store that cannot count, and keeps it from no other one', async () => {
  const stores = { broken: createInMemoryStore(), sound: createInMemoryStore() }
  const close = vi.spyOn(stores.broken, 'close')
  const { broken, sound } = stores
  const memory = createMemoryManager({
    stores: { working: sound, 'short-term': sound, 'long-term': broken, episodic: sound },
    cache: createMemoryCache(),
  })
  await memory.write('long-term', 'key', 1)
  await memory.read('long-term', 'key')
  broken.touch = async () => {
    throw new Error('away')
  }
  await memory.read('long-term', 'key')
  await memory.write('working', 'key', 1)
  await expect(memory.close()).rejects.toThrow('away')
  expect(close).toHaveBeenCalledOnce()
})

it('answers nothing that has expired in the store, as its last access could not be recorded', async () => {
  const { stores, memory, other, time } = cached()
  await memory.write('short-term', 'key', 1, { ttl: 1000 })
  await memory.read('short-term', 'key')
  time.advance(900)
  const { touch } = stores
  vi.spyOn(stores, 'touch').mockRejectedValueOnce(new Error('away'))
  await expect(memory.read('short-term', 'key')).rejects.toThrow('away')
  stores.touch = touch
  time.advance(100)
  expect(await other.read('short-term', 'key')).toBeNull()
  expect(await memory.read('short-term', 'key')).toBeNull()
})
