import { expect, it, onTestFinished, vi } from 'vitest'
import { openMemory } from '../../test/open-memory.ts'
import { createTicker } from '../conformance/ticker.ts'
import { MemoryError, MemoryErrorCode } from '../errors.ts'
import { createMemoryManager } from '../front/create-memory-manager.ts'
import type { MemoryManager } from '../memory-manager.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { updateEntry } from './update-entry.ts'

it('updateEntry loses no update of many processes, which pause at random after each that they lost', async () => {
  const { stores, memory } = openMemory()
  const pauses: number[] = []
  const pause = async (ms: number) => void pauses.push(ms)
  const count = (each: MemoryManager) =>
    updateEntry<number>(each, 'long-term', 'count', (known) => ({ value: (known ?? 0) + 1 }), { pause })
  const processes = Array.from({ length: 80 }, () => createMemoryManager({ stores }))
  await Promise.all(processes.map(count))
  expect(await memory.read('long-term', 'count')).toBe(80)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(100)
  expect(new Set(pauses).size).toBeGreaterThan(100)
})

it('updateEntry gives up at last when others always win', async () => {
  const { memory } = openMemory()
  await memory.write('long-term', 'count', 0)
  let tries = 0
  const overtaken: MemoryManager = {
    ...memory,
    async atomicUpdate() {
      tries++
      throw new MemoryError('written meanwhile', MemoryErrorCode.CONFLICT)
    },
  }
  vi.spyOn(Math, 'random').mockReturnValue(1)
  onTestFinished(() => void vi.restoreAllMocks())
  const pauses: number[] = []
  const pause = async (ms: number) => void pauses.push(ms)
  const update = updateEntry(overtaken, 'long-term', 'count', () => ({ value: 1 }), { pause })
  await expect(update).rejects.toMatchObject({
    code: MemoryErrorCode.CONFLICT,
    message: expect.stringContaining('try again'),
  })
  expect(tries).toBe(100)
  expect(pauses.slice(0, 9)).toEqual([1, 2, 4, 8, 16, 32, 64, 100, 100])
})

it('updateEntry keeps the ttl and the encryption of what it changes', async () => {
  const time = createTicker()
  const memory = createMemoryManager({
    stores: createInMemoryStore(),
    clock: time.clock,
    encryptionKey: new Uint8Array(32),
  })
  await memory.write('short-term', 'count', 1, { ttl: 5000, encrypt: true })
  time.advance(1000)
  await updateEntry<number>(memory, 'short-term', 'count', (known) => ({ value: (known ?? 0) + 1 }))
  const record = await memory.read('short-term', 'count', { includeMetadata: true })
  expect(record).toMatchObject({ value: 2, metadata: { encrypted: true, expiresAt: time.clock() + 5000 } })
})

it('updateEntry keeps for ever what was written for ever, with its tags and its type', async () => {
  const time = createTicker()
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: time.clock })
  const options = { ttl: Number.POSITIVE_INFINITY, tags: ['ui'], type: 'counter' }
  await memory.write('short-term', 'count', 1, options)
  await updateEntry<number>(memory, 'short-term', 'count', (known) => ({ value: (known ?? 0) + 1 }))
  time.advance(365 * 24 * 3600_000)
  const record = await memory.read('short-term', 'count', { includeMetadata: true })
  expect(record).toMatchObject({ value: 2, metadata: { expiresAt: null, tags: ['ui'], type: 'counter' } })
})

it('updateEntry keeps the ttl also when the clock was set back', async () => {
  const time = createTicker()
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: time.clock })
  const ttl = 3600_000
  await memory.write('short-term', 'count', 1, { ttl })
  time.advance(-ttl)
  await memory.write('short-term', 'count', 2, { ttl })
  await updateEntry<number>(memory, 'short-term', 'count', () => ({ value: 3 }))
  time.advance(2 * ttl)
  await updateEntry<number>(memory, 'short-term', 'count', () => ({ value: 4 }))
  const record = await memory.read('short-term', 'count', { includeMetadata: true })
  expect(record).toMatchObject({ value: 4, metadata: { expiresAt: time.clock() + ttl } })
})

it('updateEntry leaves the type to a value that says its own', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  await memory.write('long-term', 'p', { type: 'draft' })
  await updateEntry(memory, 'long-term', 'p', () => ({ value: { type: 'playbook' } }))
  const record = await memory.read('long-term', 'p', { includeMetadata: true })
  expect(record?.metadata.type).toBe('playbook')
})

it('updateEntry changes the ttl, the tags and the type where it is told to', async () => {
  const time = createTicker()
  const memory = createMemoryManager({ stores: createInMemoryStore(), clock: time.clock })
  await memory.write('long-term', 'count', 1, { tags: ['old'], type: 'draft' })
  time.advance(1)
  const options = { ttl: 5000, tags: ['new'], type: 'counter' }
  await updateEntry(memory, 'long-term', 'count', () => ({ value: 2, ...options }))
  const record = await memory.read('long-term', 'count', { includeMetadata: true })
  expect(record?.metadata).toMatchObject({ tags: ['new'], type: 'counter', expiresAt: time.clock() + 5000 })
})

it('updateEntry lets the updates of one memory take turns, so that none is overtaken', async () => {
  const { memory } = openMemory()
  const pause = vi.fn(async () => {})
  const count = () =>
    updateEntry<number>(memory, 'long-term', 'count', (known) => ({ value: (known ?? 0) + 1 }), { pause })
  await Promise.all(Array.from({ length: 10 }, count))
  expect(await memory.read('long-term', 'count')).toBe(10)
  expect(pause).not.toHaveBeenCalled()
})

it('updateEntry overwrites nothing that was written as it began, whatever it is told', async () => {
  const { memory } = openMemory()
  const seen: (number | null)[] = []
  let other: Promise<void> | undefined
  const change = (known: number | null) => {
    seen.push(known)
    other ??= memory.write('long-term', 'count', 7)
    return { value: (known ?? 0) + 1, overwrite: true }
  }
  await updateEntry(memory, 'long-term', 'count', change, { pause: async () => other })
  expect(await memory.read('long-term', 'count')).toBe(8)
  expect(seen).toEqual([null, 7])
})
