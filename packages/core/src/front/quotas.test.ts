import * as fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { createTicker } from '../conformance/ticker.ts'
import { isMemoryError, MemoryError, MemoryErrorCode } from '../errors.ts'
import { jsonBytes } from '../json.ts'
import type { MemoryStore } from '../memory-store.ts'
import { sessionSummaryType, windowNotesKey } from '../session-keys.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { createMemoryManager } from './create-memory-manager.ts'

const place = { namespace: 'default', scope: 'long-term' } as const

it('counts exactly, whatever is written, overwritten and deleted', async () => {
  const change = fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    value: fc.string({ unit: 'binary', maxLength: 60 }),
    kind: fc.constantFrom('write', 'write', 'delete', 'batch'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 40 }), async (changes) => {
      const stores = createInMemoryStore()
      const quota = 150
      const options = { stores, policies: { quotas: { 'long-term': quota } }, redact: 'allow' } as const
      const memory = createMemoryManager(options)
      const model = new Map<string, string>()
      const sizeOf = (entries: Map<string, string>): number =>
        [...entries.values()].reduce((sum, value) => sum + jsonBytes(value), 0)
      for (const { key, value, kind } of changes) {
        if (!value.isWellFormed()) continue
        if (kind === 'delete') {
          await memory.delete('long-term', key)
          model.delete(key)
          continue
        }
        const next = new Map(model).set(key, value)
        const call =
          kind === 'write'
            ? memory.write('long-term', key, value)
            : memory.batchWrite('long-term', [{ key, value }])
        const written = await call.then(
          () => true,
          (error: unknown) => !isMemoryError(error, 'MEMORY_QUOTA_EXCEEDED'),
        )
        expect(written).toBe(sizeOf(next) <= quota)
        if (written) model.set(key, value)
      }
      expect(await stores.stats(place)).toEqual({ entries: model.size, bytes: sizeOf(model) })
    }),
    { numRuns: 200 },
  )
})

it('measures a store once, not at every write', async () => {
  const sound = createInMemoryStore()
  let measured = 0
  const stores: MemoryStore = {
    ...sound,
    stats: (where) => {
      measured++
      return sound.stats(where)
    },
  }
  const time = createTicker()
  const memory = createMemoryManager({ stores, clock: time.clock })
  for (let i = 0; i < 1000; i++) await memory.write('long-term', `key ${i}`, 'x'.repeat(100))
  expect(measured).toBe(1)
  time.advance(5001)
  await memory.write('long-term', 'later', 1)
  expect(measured).toBe(2)
})

it('measures a store again after its clock was put back', async () => {
  const time = createTicker()
  const stores = createInMemoryStore()
  const open = () =>
    createMemoryManager({ stores, clock: time.clock, policies: { quotas: { 'long-term': 1000 } } })
  const [memory, other] = [open(), open()]
  await memory.write('long-term', 'mine', 'x'.repeat(50))
  time.advance(-3_600_000)
  await other.write('long-term', 'theirs', 'x'.repeat(900))
  await expect(memory.write('long-term', 'more', 'x'.repeat(100))).rejects.toMatchObject({
    code: 'MEMORY_QUOTA_EXCEEDED',
  })
})

it('a scope that is beyond its quota may be made smaller step by step', async () => {
  const stores = createInMemoryStore()
  const before = createMemoryManager({ stores })
  for (const key of ['a', 'b', 'c']) await before.write('long-term', key, 'x'.repeat(98))
  const memory = createMemoryManager({ stores, policies: { quotas: { 'long-term': 150 } } })
  await expect(memory.write('long-term', 'a', 'x'.repeat(99))).rejects.toMatchObject({
    code: 'MEMORY_QUOTA_EXCEEDED',
  })
  await memory.write('long-term', 'a', 'x'.repeat(48))
  await memory.atomicUpdate('long-term', [
    { operation: 'delete', key: 'b' },
    { operation: 'set', key: 'd', value: 'x'.repeat(48) },
  ])
  expect(await stores.stats(place)).toEqual({ entries: 3, bytes: 200 })
})

it('counts once what two batches at once would free', async () => {
  const stores = createInMemoryStore()
  const { commit } = stores
  stores.commit = async (changes) => {
    // Until the other batch has asked for room.
    await new Promise(setImmediate)
    await commit(changes)
  }
  const memory = createMemoryManager({ stores, policies: { quotas: { 'long-term': 100 } } })
  for (const key of ['a', 'kept']) await memory.write('long-term', key, 'x'.repeat(48))
  const replaceBy = (key: string) =>
    memory.atomicUpdate('long-term', [
      { operation: 'delete', key: 'a' },
      { operation: 'set', key, value: 'x'.repeat(38) },
    ])
  const answers = await Promise.allSettled([replaceBy('b'), replaceBy('c')])
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(await stores.stats(place)).toEqual({ entries: 2, bytes: 90 })
})

it('lets several writes at once make the same entry smaller', async () => {
  const stores = createInMemoryStore()
  const memory = createMemoryManager({ stores, policies: { quotas: { 'long-term': 100 } } })
  for (const key of ['a', 'kept']) await memory.write('long-term', key, 'x'.repeat(48))
  const { put } = stores
  stores.put = async (entry, options) => {
    await new Promise(setImmediate)
    await put(entry, options)
  }
  await Promise.all([1, 2, 3].map(() => memory.write('long-term', 'a', 'x'.repeat(28))))
  expect(await stores.stats(place)).toEqual({ entries: 2, bytes: 80 })
})

it('counts on no room that a later write to the same entry is about to take, when an earlier one is over', async () => {
  const stores = createInMemoryStore()
  const memory = createMemoryManager({ stores, policies: { quotas: { 'long-term': 100 } } })
  for (const key of ['a', 'kept']) await memory.write('long-term', key, 'x'.repeat(48))
  const { put } = stores
  const waiting: (() => void)[] = []
  stores.put = async (entry, options) => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    await put(entry, options)
  }
  const earlier = memory.write('long-term', 'a', 'x'.repeat(28))
  const later = memory.write('long-term', 'a', 'x'.repeat(23))
  await new Promise(setImmediate)
  waiting[0]?.()
  await earlier
  const moved = memory.atomicUpdate('long-term', [
    { operation: 'delete', key: 'a' },
    { operation: 'set', key: 'b', value: 'x'.repeat(28) },
  ])
  await expect(moved).rejects.toMatchObject({ code: MemoryErrorCode.QUOTA_EXCEEDED })
  waiting[1]?.()
  await later
})

it('evicts as much as a write needs beside those that the store has not got yet', async () => {
  const stores = createInMemoryStore()
  const memory = createMemoryManager({ stores, policies: { quotas: { 'short-term': 1000 } } })
  for (let i = 0; i < 5; i++) await memory.write('short-term', `key ${i}`, 'x'.repeat(98))
  const { put } = stores
  let go = (): void => {}
  stores.put = async (entry, options) => {
    stores.put = put
    await new Promise<void>((resolve) => {
      go = resolve
    })
    await put(entry, options)
  }
  const first = memory.write('short-term', 'first', 'x'.repeat(398))
  await memory.write('short-term', 'second', 'x'.repeat(298))
  go()
  await first
  expect(await stores.stats({ ...place, scope: 'short-term' })).toEqual({ entries: 5, bytes: 1000 })
})

it('takes back the room of a write that failed', async () => {
  const stores = createInMemoryStore()
  const memory = createMemoryManager({ stores, policies: { quotas: { 'long-term': 100 } } })
  vi.spyOn(stores, 'put').mockRejectedValueOnce(new Error('away'))
  await expect(memory.write('long-term', 'a', 'x'.repeat(58))).rejects.toThrow('away')
  await memory.write('long-term', 'b', 'x'.repeat(58))
})

it('counts what an entry frees by what it holds now, not by an earlier write to it', async () => {
  const stores = createInMemoryStore()
  const memory = createMemoryManager({ stores, policies: { quotas: { 'long-term': 1000 } } })
  const write = (key: string, bytes: number) => memory.write('long-term', key, 'x'.repeat(bytes - 2))
  await write('a', 900)
  await write('kept', 50)
  await write('a', 500)
  await memory.delete('long-term', 'a')
  await write('a', 900)
  await write('a', 920)
  expect(await stores.stats(place)).toEqual({ entries: 2, bytes: 970 })
})

it.each([
  ['ascii', 'abc', 5],
  ['two bytes', 'äö', 6],
  ['three bytes', '€', 5],
  ['four bytes', '🙂', 6],
  ['escapes', '\n"', 6],
  ['an object', { a: [1, null] }, 14],
])('jsonBytes counts %s as UTF-8', (_, value, bytes) => {
  expect(jsonBytes(value)).toBe(bytes)
})

it('what a person wrote into the window is not evicted, however long it went unused', async () => {
  const time = createTicker()
  const policies = { quotas: { 'short-term': 1000 } }
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: time.clock, policies })
  await memory.write('short-term', windowNotesKey, 'Ask Ada first.')
  for (let i = 0; i < 300; i++) {
    time.advance(1)
    await memory.write('short-term', `key ${i}`, 'x'.repeat(98))
  }
  const empty = { scope: 'short-term', threshold: 0.01 } as const
  const { deleted } = await memory.cleanup({ ...empty, dryRun: true })
  expect(deleted).toBeGreaterThan(0)
  expect((await memory.cleanup(empty)).deleted).toBe(deleted)
  expect(await memory.read('short-term', windowNotesKey)).toBe('Ask Ada first.')
})

it('sessions of the window are not evicted, however many they are', async () => {
  const time = createTicker()
  const policies = { quotas: { 'short-term': 100_000 } }
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: time.clock, policies })
  for (let i = 0; i < 150; i++) {
    time.advance(1)
    await memory.write('short-term', `session:${i}`, { summary: 'The pool.' }, { type: sessionSummaryType })
  }
  await memory.write('short-term', 'key', 'x')
  const empty = { scope: 'short-term', threshold: 0.001 } as const
  expect((await memory.cleanup({ ...empty, dryRun: true })).deleted).toBe(1)
  expect((await memory.cleanup(empty)).deleted).toBe(1)
  expect(await memory.exists('short-term', 'session:0')).toBe(true)
})

it('a dry clean-up counts what the real one removes, also where something has expired', async () => {
  const time = createTicker()
  const policies = { quotas: { 'short-term': 1000 } }
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: time.clock, policies })
  await memory.write('short-term', 'expired', 'x'.repeat(498), { ttl: 10 })
  await memory.write('short-term', 'living', 'x'.repeat(398))
  time.advance(10)
  const options = { scope: 'short-term', threshold: 0.5 } as const
  const { deleted } = await memory.cleanup({ ...options, dryRun: true })
  expect(deleted).toBe((await memory.cleanup(options)).deleted)
  expect(await memory.exists('short-term', 'living')).toBe(true)
})

it('evicts thousands of entries in few pages, also where some are written meanwhile', async () => {
  const sound = createInMemoryStore()
  let calls = 0
  const counted = async <T>(answer: Promise<T>): Promise<T> => {
    calls++
    return answer
  }
  const stores: MemoryStore = {
    ...sound,
    find: (query) => counted(sound.find(query)),
    commit: (changes) => counted(sound.commit(changes)),
  }
  const memory = createMemoryManager({ stores, policies: { quotas: { 'short-term': 1_000_000 } } })
  for (let i = 0; i < 5000; i++) await memory.write('short-term', `key ${i}`, 'x'.repeat(98))
  const empty = { scope: 'short-term', threshold: 0 } as const
  calls = 0
  const almostEmpty = { ...empty, threshold: 0.0001 }
  expect((await memory.cleanup({ ...almostEmpty, dryRun: true })).deleted).toBe(4999)
  expect(calls).toBeLessThan(16)
  calls = 0
  expect((await memory.cleanup(almostEmpty)).deleted).toBe(4999)
  expect(calls).toBeLessThan(16)
})

it('evicts in smaller steps what a hub takes for too large a call', async () => {
  const stores = createInMemoryStore()
  const { commit } = stores
  stores.commit = async (changes) => {
    if (changes.length > 3) throw new MemoryError('too large', MemoryErrorCode.QUOTA_EXCEEDED)
    await commit(changes)
  }
  const memory = createMemoryManager({ stores, policies: { quotas: { 'short-term': 1000 } } })
  for (let i = 0; i < 10; i++) await memory.write('short-term', `key ${i}`, 'x'.repeat(98))
  const empty = { scope: 'short-term', threshold: 0.1 } as const
  expect(await memory.cleanup(empty)).toMatchObject({ deleted: 9, errors: [] })
})

it('gives the same room to one write only, at whatever step of the other it asks', async () => {
  for (let steps = 0; steps < 20; steps++) {
    const memory = createMemoryManager({
      stores: createInMemoryStore(),
      policies: { quotas: { 'long-term': 100 } },
    })
    const first = memory.write('long-term', 'first', 'x'.repeat(58))
    for (let i = 0; i < steps; i++) await Promise.resolve()
    const second = memory.write('long-term', 'second', 'x'.repeat(58))
    const answers = await Promise.allSettled([first, second])
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  }
})

it('restores from the archive only what fits, and leaves the rest there', async () => {
  const time = createTicker()
  const memory = createMemoryManager({
    stores: createInMemoryStore(),
    policies: { quotas: { episodic: 100 } },
    clock: time.clock,
  })
  await memory.write('episodic', 'old', 'x'.repeat(60))
  time.advance(1)
  await memory.cleanup({ archiveBefore: time.clock() })
  await memory.write('episodic', 'new', 'x'.repeat(60))
  await expect(memory.restore('episodic', 'old')).rejects.toMatchObject({
    code: MemoryErrorCode.QUOTA_EXCEEDED,
  })
  await memory.delete('episodic', 'new')
  expect(await memory.restore('episodic', 'old')).toBe(true)
})

it('evicts others where hundreds of the longest unused are those that a write replaces', async () => {
  const time = createTicker()
  const policies = { quotas: { 'short-term': 20_000 } }
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: time.clock, policies })
  const keys = Array.from({ length: 150 }, (_, i) => `replaced ${i}`)
  const writeAll = (bytes: number) =>
    memory.batchWrite(
      'short-term',
      keys.map((key) => ({ key, value: 'x'.repeat(bytes - 2) })),
    )
  await writeAll(50)
  time.advance(1)
  await memory.write('short-term', 'newer', 'x'.repeat(9_998))
  await writeAll(100)
  expect(await memory.exists('short-term', 'newer')).toBe(false)
  expect((await memory.batchRead('short-term', keys)).size).toBe(150)
})

it('evicts around an entry that its store never lets go of', async () => {
  const stores = createInMemoryStore()
  const { commit } = stores
  stores.commit = async (changes) => {
    if (changes.some((change) => 'remove' in change && change.remove.key === 'key 0'))
      throw new MemoryError('written meanwhile', MemoryErrorCode.CONFLICT)
    await commit(changes)
  }
  const memory = createMemoryManager({ stores, policies: { quotas: { 'short-term': 1000 } } })
  for (let i = 0; i < 10; i++) await memory.write('short-term', `key ${i}`, 'x'.repeat(98))
  const most = { scope: 'short-term', threshold: 0.1 } as const
  expect(await memory.cleanup(most)).toMatchObject({ deleted: 9, errors: [] })
})

it('says why a full scope makes no room where its store removes nothing', async () => {
  const sound = createInMemoryStore()
  const policies = { quotas: { 'short-term': 1000 } }
  const commit = async (): Promise<void> => {
    throw new MemoryError('away', MemoryErrorCode.UNAVAILABLE)
  }
  const memory = createMemoryManager({ stores: { ...sound, commit }, policies })
  for (let i = 0; i < 10; i++) await memory.write('short-term', `key ${i}`, 'x'.repeat(98))
  await expect(memory.write('short-term', 'next', 'x')).rejects.toMatchObject({
    code: MemoryErrorCode.UNAVAILABLE,
  })
})
