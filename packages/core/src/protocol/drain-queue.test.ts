import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openFailing } from '../../test/failing-memory.ts'
import type { Clock } from '../clock.ts'
import { createTicker } from '../conformance/ticker.ts'
import { MemoryError, MemoryErrorCode } from '../errors.ts'
import { createMemoryManager } from '../front/create-memory-manager.ts'
import type { MemoryManager } from '../memory-manager.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { createMemoryFallback } from './fallback.ts'
import { createInMemoryQueue, type WriteQueue } from './write-queue.ts'

/** One that tells nobody when it degrades. */
const quietFallback = (memory: MemoryManager, queue: WriteQueue, { clock }: { clock: Clock }) =>
  createMemoryFallback({ memory, queue, clock, onDegraded: () => {} })

describe('drain', () => {
  it('keeps the writes that are queued while an earlier one of their key is drained', async () => {
    const { memory, queue, time, failWith } = openFailing()
    let meanwhile: (() => Promise<void>) | undefined
    const slow = {
      ...memory,
      async write(...given: Parameters<MemoryManager['write']>) {
        await meanwhile?.()
        return memory.write(...given)
      },
    }
    const fallback = quietFallback(slow, queue, time)
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'key', 'first')
    failWith(null)
    meanwhile = async () => {
      meanwhile = undefined
      for (const value of ['second', 'third'])
        expect(await fallback.writeWithDegradation('long-term', 'key', value)).toBe('queued')
      time.advance(10)
    }
    expect(await fallback.drain()).toMatchObject({ written: 1 })
    expect(await fallback.drain()).toMatchObject({ written: 2, superseded: 0 })
    expect(await memory.read('long-term', 'key')).toBe('third')
  })

  it('waits twice as long after every attempt, up to five minutes', async () => {
    const { fallback, queue, time, failWith } = openFailing()
    failWith(MemoryErrorCode.UNAVAILABLE)
    await fallback.writeWithDegradation('long-term', 'key', 1)
    const waits: number[] = []
    for (let i = 0; i < 11; i++) {
      await fallback.drain()
      const [item] = await queue.items()
      waits.push((item?.notBefore ?? 0) - time.clock())
      time.advance(waits.at(-1) as number)
    }
    expect(waits.slice(0, 4)).toEqual([1000, 2000, 4000, 8000])
    expect(waits.at(-1)).toBe(300_000)
    await fallback.drain()
    const setAside = await queue.items()
    await fallback.drain()
    expect(await queue.items()).toEqual(setAside)
  })

  it('tries again where a clock that was far ahead set the write aside', async () => {
    const { memory, fallback, time, failWith } = openFailing()
    failWith(MemoryErrorCode.UNAVAILABLE)
    await fallback.writeWithDegradation('long-term', 'key', 1)
    const year = 365 * 86_400_000
    time.advance(year)
    await fallback.drain()
    failWith(null)
    time.advance(-year)
    expect(await fallback.drain()).toMatchObject({ written: 1 })
    expect(await memory.read('long-term', 'key')).toBe(1)
  })

  it('drops what would have expired by now', async () => {
    const { memory, fallback, time, failWith } = openFailing()
    failWith(MemoryErrorCode.UNAVAILABLE)
    await fallback.writeWithDegradation('long-term', 'short', 1, { ttl: 1000 })
    await fallback.writeWithDegradation('long-term', 'long', 1, { ttl: 5000 })
    failWith(null)
    time.advance(1000)
    expect(await fallback.drain()).toMatchObject({ written: 1, superseded: 1, waiting: 0 })
    expect([await memory.read('long-term', 'short'), await memory.read('long-term', 'long')]).toEqual([
      null,
      1,
    ])
  })

  it('gives way to what others wrote since', async () => {
    const { memory, fallback, time, failWith } = openFailing()
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'key', 'queued')
    failWith(null)
    time.advance(10)
    await memory.write('long-term', 'key', 'later')
    expect(await fallback.drain()).toMatchObject({ superseded: 1, written: 0 })
    expect(await memory.read('long-term', 'key')).toBe('later')
  })

  it('takes a write that was made although it timed out for done', async () => {
    const { memory, fallback, failWith } = openFailing()
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'key', { a: 1 }, { overwrite: false })
    failWith(null)
    await memory.write('long-term', 'key', { a: 1 })
    expect(await fallback.drain()).toMatchObject({ written: 1, dead: 0 })
  })

  it('sets aside what can never be written, and goes on with the rest', async () => {
    const { fallback, queue, failWith, told } = openFailing()
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'bad', 1, { ttl: -1 } as object).catch(() => undefined)
    await queue.append({
      namespace: 'default',
      scope: 'long-term',
      key: 'bad',
      value: 1,
      options: { ttl: -1 },
      queuedAt: 0,
    })
    await fallback.writeWithDegradation('long-term', 'good', 1)
    failWith(null)
    expect(await fallback.drain()).toMatchObject({ written: 1, dead: 1 })
    expect(await queue.items()).toMatchObject([{ key: 'bad', dead: true, attempts: 1 }])
    expect(told.map(({ kind }) => kind)).toContain('dead')
    expect(await fallback.drain()).toMatchObject({ written: 0, dead: 1 })
  })

  it('keeps a write that waits for room until there is room', async () => {
    const { memory, fallback, queue, failWith, told, time } = openFailing()
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'large', 'x'.repeat(250))
    failWith(null)
    await memory.write('long-term', 'other', 'y'.repeat(150))
    expect(await fallback.drain()).toMatchObject({ waiting: 1, dead: 0 })
    await memory.delete('long-term', 'other')
    time.advance(1000)
    expect(await fallback.drain()).toMatchObject({ written: 1, waiting: 0 })
    expect(await memory.read('long-term', 'large')).toBe('x'.repeat(250))
    expect(await queue.items()).toEqual([])
    expect(told.map(({ kind }) => kind)).toEqual(['queued'])
  })

  it('keeps a write while nobody can look at what stands there', async () => {
    const { memory, fallback, failWith, time } = openFailing()
    failWith(MemoryErrorCode.UNAVAILABLE)
    await fallback.writeWithDegradation('long-term', 'key', 1)
    failWith(MemoryErrorCode.SEARCH_FAILED)
    expect(await fallback.drain()).toMatchObject({ waiting: 1, dead: 0 })
    failWith(null)
    time.advance(1000)
    expect(await fallback.drain()).toMatchObject({ written: 1 })
    expect(await memory.read('long-term', 'key')).toBe(1)
  })

  it('leaves the writes of other namespaces in a queue that they share', async () => {
    const { memory, fallback, queue } = openFailing()
    const write = { scope: 'long-term', key: 'key', queuedAt: 0 } as const
    await queue.append({ ...write, namespace: 'other', value: 'theirs' })
    await queue.append({ ...write, namespace: 'default', value: 'ours' })
    expect(await fallback.drain()).toEqual({ written: 1, superseded: 0, waiting: 0, dead: 0 })
    expect(await memory.read('long-term', 'key')).toBe('ours')
    expect(await queue.items()).toMatchObject([{ namespace: 'other', value: 'theirs' }])
  })

  it('counts what waits of its own while another process drains', async () => {
    const { memory, time } = openFailing()
    const queue = { ...createInMemoryQueue(), exclusively: async () => null }
    const { append } = queue
    const write = { scope: 'long-term', value: 1, queuedAt: 0 } as const
    await append({ ...write, namespace: 'default', key: 'key' })
    await append({ ...write, namespace: 'other', key: 'key' })
    const dead = await append({ ...write, namespace: 'default', key: 'dead' })
    await queue.update({ ...dead, dead: true })
    const fallback = quietFallback(memory, queue, time)
    expect(await fallback.drain()).toEqual({ written: 0, superseded: 0, waiting: 1, dead: 0 })
  })

  it('takes no write for older than those that were drained in the same millisecond', async () => {
    const { memory, fallback, failWith } = openFailing()
    const write = (value: string) => fallback.writeWithDegradation('long-term', 'key', value)
    failWith(MemoryErrorCode.TIMEOUT)
    for (const value of ['first', 'second', 'third']) await write(value)
    failWith(null)
    expect(await fallback.drain()).toMatchObject({ written: 3 })
    failWith(MemoryErrorCode.TIMEOUT)
    expect(await write('fourth')).toBe('queued')
    failWith(null)
    expect(await fallback.drain()).toMatchObject({ written: 1 })
    expect(await memory.read('long-term', 'key')).toBe('fourth')
  })

  it('lets writes through again as soon as what they waited for is drained', async () => {
    const { fallback, failWith } = openFailing()
    const write = (value: number) => fallback.writeWithDegradation('long-term', 'key', value)
    failWith(MemoryErrorCode.TIMEOUT)
    await write(1)
    failWith(null)
    expect(await write(2)).toBe('queued')
    await fallback.drain()
    expect(await write(3)).toBe('written')
  })

  it('makes every queued write of a key whose schema fills in what is missing', async () => {
    const counter = z.object({ name: z.string(), count: z.number().default(0) })
    const { memory, fallback, queue, time, failWith } = openFailing({ schemas: { working: { counter } } })
    failWith(MemoryErrorCode.TIMEOUT)
    for (const name of ['first', 'second'])
      expect(await fallback.writeWithDegradation('working', 'counter', { name })).toBe('queued')
    const wrong = fallback.writeWithDegradation('working', 'counter', { name: 3 })
    await expect(wrong).rejects.toMatchObject({ code: MemoryErrorCode.INVALID_INPUT })
    expect(await queue.items()).toHaveLength(2)
    failWith(null)
    time.advance(1000)
    expect(await fallback.drain()).toMatchObject({ written: 2, superseded: 0 })
    expect(await memory.read('working', 'counter')).toEqual({ name: 'second', count: 0 })
  })

  it('leaves what somebody wrote while the store did not answer', async () => {
    const { memory, fallback, time } = openFailing()
    const hanging = { ...memory, write: () => answer }
    let end: (error: unknown) => void = () => {}
    const answer = new Promise<never>((_, reject) => {
      end = reject
    })
    const queue = createInMemoryQueue()
    const slow = quietFallback(hanging, queue, time)
    const late = slow.writeWithDegradation('long-term', 'key', 'older')
    time.advance(1000)
    await fallback.writeWithDegradation('long-term', 'key', 'newer')
    time.advance(1000)
    end(new MemoryError('no answer', MemoryErrorCode.TIMEOUT))
    expect(await late).toBe('queued')
    const drained = await quietFallback(memory, queue, time).drain()
    expect(drained).toMatchObject({ written: 0, superseded: 1 })
    expect(await memory.read('long-term', 'key')).toBe('newer')
  })

  it('gives way to what somebody writes between the look at a key and the write', async () => {
    for (const isNew of [true, false]) {
      const { memory, fallback, queue, time, failWith } = openFailing()
      if (!isNew) await memory.write('long-term', 'key', 'older')
      time.advance(10)
      failWith(MemoryErrorCode.TIMEOUT)
      await fallback.writeWithDegradation('long-term', 'key', 'queued')
      failWith(null)
      time.advance(10)
      const looking = {
        ...memory,
        async read(...given: Parameters<MemoryManager['read']>) {
          const record = await memory.read(...given)
          looking.read = memory.read
          await memory.write('long-term', 'key', 'later')
          return record
        },
      } as MemoryManager
      const options = { clock: time.clock, onDegraded: () => {} }
      const drained = await createMemoryFallback({ ...options, memory: looking, queue }).drain()
      expect(drained).toMatchObject({ superseded: 1, written: 0 })
      expect(await memory.read('long-term', 'key')).toBe('later')
    }
  })

  it('gives way to what somebody writes between two writes of the queue', async () => {
    const { memory, queue, time, failWith } = openFailing()
    const overtaken = {
      ...memory,
      async write(...given: Parameters<MemoryManager['write']>) {
        await memory.write(...given)
        time.advance(10)
        await memory.write('long-term', 'key', 'theirs')
      },
    }
    const fallback = quietFallback(overtaken, queue, time)
    failWith(MemoryErrorCode.TIMEOUT)
    for (const value of ['first', 'second']) await fallback.writeWithDegradation('long-term', 'key', value)
    failWith(null)
    expect(await fallback.drain()).toMatchObject({ written: 1, superseded: 1 })
    expect(await memory.read('long-term', 'key')).toBe('theirs')
  })

  it('replaces nothing by a write that asks for a free key, and takes an equal value for its own', async () => {
    const { memory, fallback, time, failWith } = openFailing()
    for (const key of ['key', 'same']) await memory.write('long-term', key, 'older')
    time.advance(10)
    failWith(MemoryErrorCode.TIMEOUT)
    const options = { overwrite: false }
    await fallback.writeWithDegradation('long-term', 'key', 'newer', options)
    await fallback.writeWithDegradation('long-term', 'same', 'older', options)
    failWith(null)
    expect(await fallback.drain()).toMatchObject({ written: 1, dead: 1 })
    expect(await memory.read('long-term', 'key')).toBe('older')
  })

  it.each([{}, { overwrite: false }])(
    'tries again after a conflict that left no trace, with %j',
    async (options) => {
      const { memory, queue, time, failWith } = openFailing()
      let conflicts = 0
      const contended = {
        ...memory,
        async write(...given: Parameters<MemoryManager['write']>) {
          if (conflicts-- > 0) throw new MemoryError('a deadlock', MemoryErrorCode.CONFLICT)
          return memory.write(...given)
        },
      }
      const fallback = quietFallback(contended, queue, time)
      failWith(MemoryErrorCode.TIMEOUT)
      await fallback.writeWithDegradation('long-term', 'key', 'mine', options)
      failWith(null)
      conflicts = 1
      expect(await fallback.drain()).toMatchObject({ waiting: 1, dead: 0 })
      time.advance(1000)
      expect(await fallback.drain()).toMatchObject({ written: 1 })
      expect(await memory.read('long-term', 'key')).toBe('mine')
    },
  )

  it('makes a write behind one that failed for good before', async () => {
    const { memory, fallback, queue } = openFailing()
    const write = { namespace: 'default', scope: 'long-term', key: 'key', queuedAt: 0 } as const
    await queue.append({ ...write, value: 'first' })
    const dead = await queue.append({ ...write, value: 'dead' })
    await queue.append({ ...write, value: 'last' })
    await queue.update({ ...dead, dead: true })
    expect(await fallback.drain()).toMatchObject({ written: 2, superseded: 0, dead: 1 })
    expect(await memory.read('long-term', 'key')).toBe('last')
  })

  it('makes a write of the same value with other options', async () => {
    const { memory, fallback, time, failWith } = openFailing({ encryptionKey: new Uint8Array(32) })
    for (const key of ['key', 'other']) await memory.write('long-term', key, 'value')
    time.advance(10)
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'other', 'value', { tags: ['new'] })
    await fallback.writeWithDegradation('long-term', 'key', 'value', { tags: ['new'] })
    await fallback.writeWithDegradation('long-term', 'key', 'value', { encrypt: true })
    failWith(null)
    time.advance(10)
    expect(await fallback.drain()).toMatchObject({ written: 3 })
    const record = await memory.read('long-term', 'key', { includeMetadata: true })
    expect(record?.metadata).toMatchObject({ encrypted: true, tags: [] })
    const other = await memory.read('long-term', 'other', { includeMetadata: true })
    expect(other?.metadata).toMatchObject({ encrypted: false, tags: ['new'] })
  })

  it('keeps a write that is entering the queue while the one before it is drained', async () => {
    const { memory, queue, time, failWith } = openFailing()
    const { append } = queue
    let enter: () => void = () => {}
    const fallback = quietFallback(memory, queue, time)
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'key', 'first')
    failWith(null)
    const appending = new Promise<void>((begun) => {
      queue.append = async (write) => {
        begun()
        await new Promise<void>((resolve) => {
          enter = resolve
        })
        return append(write)
      }
    })
    const second = fallback.writeWithDegradation('long-term', 'key', 'second')
    await appending
    time.advance(10)
    const drain = fallback.drain()
    // In one turn the drain either ends or waits for the write.
    await new Promise((resolve) => setImmediate(resolve))
    enter()
    await Promise.all([drain, second])
    await fallback.drain()
    expect(await memory.read('long-term', 'key')).toBe('second')
  })

  it('keeps what was queued behind a write that can never be made', async () => {
    const { memory, fallback, queue, time, failWith } = openFailing()
    const write = { namespace: 'default', scope: 'long-term', key: 'key', queuedAt: time.clock() } as const
    await queue.append({ ...write, value: 'first' })
    await queue.append({ ...write, value: 'bad', options: { ttl: -1 } })
    await queue.append({ ...write, value: 'last' })
    time.advance(10)
    failWith(null)
    expect(await fallback.drain()).toEqual({ written: 2, superseded: 0, waiting: 0, dead: 1 })
    expect(await memory.read('long-term', 'key')).toBe('last')
  })

  /** A queue of so many writes, drained into a memory of which each write is told before it is made. */
  async function drainMany(count: number, onWrite: (key: string) => Promise<void>) {
    const { memory, queue, time } = openFailing()
    const telling = {
      ...memory,
      async write(...given: Parameters<MemoryManager['write']>) {
        await onWrite(given[1])
        return memory.write(...given)
      },
    }
    const fallback = quietFallback(telling, queue, time)
    const write = { namespace: 'default', scope: 'working', queuedAt: time.clock() } as const
    for (let i = 0; i < count; i++) await queue.append({ ...write, key: `key ${i}`, value: i })
    return { fallback, queue }
  }

  it('keeps no write that was made before the memory was closed', async () => {
    const { fallback, queue } = await drainMany(3, async (key) => {
      if (key === 'key 1') throw new MemoryError('closed', MemoryErrorCode.CLOSED)
    })
    await expect(fallback.drain()).rejects.toMatchObject({ code: MemoryErrorCode.CLOSED })
    expect((await queue.items()).map(({ key }) => key)).toEqual(['key 1', 'key 2'])
  })

  it('takes writes out of the queue while it makes many more', async () => {
    let waiting = 0
    const { fallback, queue } = await drainMany(300, async (key) => {
      if (key === 'key 299') waiting = (await queue.items()).length
    })
    await fallback.drain()
    expect(waiting).toBeLessThanOrEqual(100)
  })

  it('reads the queue a few times, not for each of many writes', async () => {
    const { memory, queue, time } = openFailing()
    let reads = 0
    const counting: typeof queue = {
      ...queue,
      items(after) {
        reads++
        return queue.items(after)
      },
    }
    const fallback = quietFallback(memory, counting, time)
    const write = { namespace: 'default', scope: 'working', queuedAt: time.clock() } as const
    for (let i = 0; i < 500; i++) await queue.append({ ...write, key: `key ${i}`, value: i })
    expect(await fallback.drain()).toMatchObject({ written: 500 })
    expect(reads).toBeLessThan(10)
    expect(await queue.items()).toEqual([])
  })
})

it('loses no queued write when it dies between any two steps of a drain', async () => {
  for (let steps = 0; steps < 20; steps++) {
    const sound = createInMemoryStore()
    const time = createTicker()
    const memory = createMemoryManager({ stores: sound, clock: time.clock })
    const queue = createInMemoryQueue()
    const write = { namespace: 'default', scope: 'long-term', key: 'key' } as const
    for (const value of ['first', 'second', 'third'])
      await queue.append({ ...write, value, queuedAt: time.clock() })
    time.advance(10)
    let left = steps
    const dying = <Target extends object>(target: Target): Target =>
      new Proxy(target, {
        get(object, name) {
          const member: unknown = Reflect.get(object, name)
          if (typeof member !== 'function' || name === 'exclusively') return member
          return (...given: unknown[]) => {
            if (left-- <= 0) throw new Error('killed')
            return Reflect.apply(member, object, given)
          }
        },
      })
    const options = { clock: time.clock, onDegraded: () => {} }
    const dead = createMemoryFallback({ ...options, memory: dying(memory), queue: dying(queue) })
    await dead.drain().catch(() => undefined)
    time.advance(10)
    const next = await createMemoryFallback({ ...options, memory, queue }).drain()
    expect(next).toMatchObject({ superseded: 0, waiting: 0, dead: 0 })
    expect(await memory.read('long-term', 'key')).toBe('third')
    expect(await queue.items()).toEqual([])
  }
})

it('a queue in memory runs one section at a time, also after one that failed, and keeps what it was given', async () => {
  const queue = createInMemoryQueue()
  const inner = await queue.exclusively(() => queue.exclusively(async () => 'run'))
  expect(inner).toBeNull()
  await expect(queue.exclusively(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  expect(await queue.exclusively(async () => 'run')).toBe('run')
  const value = { n: 1 }
  await queue.append({ namespace: 'default', scope: 'long-term', key: 'k', value, queuedAt: 0 })
  value.n = 2
  expect(await queue.items()).toMatchObject([{ value: { n: 1 } }])
})

it.each([0, 1.5, Number.NaN, '5'])('a queue in memory is not made for %s writes', (capacity) => {
  expect(() => createInMemoryQueue({ capacity: capacity as number })).toThrow(
    expect.objectContaining({ code: MemoryErrorCode.INVALID_INPUT }),
  )
})
