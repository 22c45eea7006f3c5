import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createTicker } from '../conformance/ticker.ts'
import { MemoryError, MemoryErrorCode } from '../errors.ts'
import { createMemoryManager } from '../front/create-memory-manager.ts'
import type { MemoryManager } from '../memory-manager.ts'
import type { MemoryStore } from '../memory-store.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { createMemoryFallback, type Degradation, type FallbackOptions } from './fallback.ts'
import { createInMemoryQueue } from './write-queue.ts'

function setUp(options: Partial<FallbackOptions> = {}) {
  const sound = createInMemoryStore()
  const time = createTicker()
  let failure: MemoryErrorCode | null = null
  const failing =
    <Given extends unknown[], Answer>(call: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      if (failure) throw new MemoryError('no answer', failure)
      return call(...given)
    }
  const stores: MemoryStore = { ...sound, put: failing(sound.put), get: failing(sound.get) }
  const encryptionKey = new Uint8Array(32)
  const policies = { quotas: { 'short-term': 100, 'long-term': 300 } }
  const { schemas = {} } = options
  const memory = createMemoryManager({ stores, clock: time.clock, encryptionKey, policies, schemas })
  const queue = createInMemoryQueue()
  const told: Degradation[] = []
  const fallback = createMemoryFallback({
    memory,
    queue,
    clock: time.clock,
    onDegraded: (each) => told.push(each),
    ...options,
  })
  const failWith = (code: MemoryErrorCode | null): void => {
    failure = code
  }
  return { memory, queue, time, told, fallback, failWith }
}

describe('readWithFallback', () => {
  it('answers the value, and the fallback when it is absent or cannot be read', async () => {
    const { memory, fallback, failWith, told } = setUp()
    await memory.write('long-term', 'key', 0)
    const other = async (): Promise<number> => 7
    expect(await fallback.readWithFallback('long-term', 'key', other)).toBe(0)
    expect(await fallback.readWithFallback('long-term', 'absent', other)).toBe(7)
    await memory.write('long-term', 'nothing', null)
    expect(await fallback.readWithFallback('long-term', 'nothing', other)).toBeNull()
    expect(told).toEqual([])
    failWith(MemoryErrorCode.TIMEOUT)
    expect(await fallback.readWithFallback('long-term', 'key', other)).toBe(7)
    expect(told).toMatchObject([{ kind: 'read', scope: 'long-term', key: 'key' }])
  })

  it('does not hide a failure of the fallback itself', async () => {
    const { fallback } = setUp()
    const broken = (): Promise<never> => Promise.reject(new Error('broken'))
    await expect(fallback.readWithFallback('long-term', 'absent', broken)).rejects.toThrow('broken')
  })
})

describe('writeWithDegradation', () => {
  it('cleans up and tries again when the scope is full', async () => {
    const { memory, fallback, time, told } = setUp()
    await memory.write('long-term', 'expiring', 'x'.repeat(250), { ttl: 1000 })
    expect(await fallback.writeWithDegradation('long-term', 'a', 1)).toBe('written')
    await expect(fallback.writeWithDegradation('long-term', 'b', 'x'.repeat(150))).rejects.toMatchObject({
      code: MemoryErrorCode.QUOTA_EXCEEDED,
    })
    time.advance(1000)
    expect(await fallback.writeWithDegradation('long-term', 'b', 'x'.repeat(150))).toBe('written')
    expect(told).toEqual([])
  })

  it('queues what the store does not answer, and drains each key in order', async () => {
    const { memory, fallback, queue, time, told, failWith } = setUp()
    failWith(MemoryErrorCode.TIMEOUT)
    expect(await fallback.writeWithDegradation('long-term', 'key', 1, { tags: ['t'] })).toBe('queued')
    expect(await fallback.drain()).toEqual({ written: 0, superseded: 0, waiting: 1, dead: 0 })
    failWith(null)
    // The store answers again, but an older write of this key still waits.
    expect(await fallback.writeWithDegradation('long-term', 'key', 2)).toBe('queued')
    expect(await fallback.writeWithDegradation('long-term', 'other', 3)).toBe('written')
    expect(await fallback.drain()).toMatchObject({ written: 0, waiting: 2 })
    time.advance(1000)
    expect(await fallback.drain()).toEqual({ written: 2, superseded: 0, waiting: 0, dead: 0 })
    expect(await memory.read('long-term', 'key')).toBe(2)
    expect(await queue.items()).toEqual([])
    expect(told.map(({ kind }) => kind)).toEqual(['queued'])
  })

  it('queues what the store does not answer after a clean-up', async () => {
    const { memory, queue, time } = setUp()
    const answers = [MemoryErrorCode.QUOTA_EXCEEDED, MemoryErrorCode.TIMEOUT]
    const full = {
      ...memory,
      async write() {
        throw new MemoryError('no answer', answers.shift() as MemoryErrorCode)
      },
    }
    const fallback = createMemoryFallback({ memory: full, queue, clock: time.clock, onDegraded: () => {} })
    expect(await fallback.writeWithDegradation('long-term', 'key', 1)).toBe('queued')
    expect(await queue.items()).toMatchObject([{ key: 'key' }])
  })

  it('keeps a write that is queued while an earlier one of its key is drained', async () => {
    const { memory, queue, time, failWith } = setUp()
    let meanwhile: (() => Promise<void>) | undefined
    const slow = {
      ...memory,
      async write(...given: Parameters<MemoryManager['write']>) {
        await meanwhile?.()
        return memory.write(...given)
      },
    }
    const fallback = createMemoryFallback({ memory: slow, queue, clock: time.clock, onDegraded: () => {} })
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'key', 'first')
    failWith(null)
    meanwhile = async () => {
      meanwhile = undefined
      expect(await fallback.writeWithDegradation('long-term', 'key', 'second')).toBe('queued')
      time.advance(10)
    }
    expect(await fallback.drain()).toMatchObject({ written: 1 })
    expect(await fallback.drain()).toMatchObject({ written: 1, superseded: 0 })
    expect(await memory.read('long-term', 'key')).toBe('second')
  })

  it('queues a key no longer, a little after another process has drained it', async () => {
    const { memory, fallback, queue, time, failWith } = setUp()
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'key', 1)
    failWith(null)
    await createMemoryFallback({ memory, queue, clock: time.clock, onDegraded: () => {} }).drain()
    time.advance(5000)
    expect(await fallback.writeWithDegradation('long-term', 'key', 2)).toBe('written')
  })

  it('waits twice as long after every attempt, up to five minutes', async () => {
    const { fallback, queue, time, failWith } = setUp()
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
  })

  it('tries again where a clock that was far ahead set the write aside', async () => {
    const { memory, fallback, time, failWith } = setUp()
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
    const { memory, fallback, time, failWith } = setUp()
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
    const { memory, fallback, time, failWith } = setUp()
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'key', 'queued')
    failWith(null)
    time.advance(10)
    await memory.write('long-term', 'key', 'later')
    expect(await fallback.drain()).toMatchObject({ superseded: 1, written: 0 })
    expect(await memory.read('long-term', 'key')).toBe('later')
  })

  it('takes a write that was made although it timed out for done', async () => {
    const { memory, fallback, failWith } = setUp()
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'key', { a: 1 }, { overwrite: false })
    failWith(null)
    await memory.write('long-term', 'key', { a: 1 })
    expect(await fallback.drain()).toMatchObject({ written: 1, dead: 0 })
  })

  it('sets aside what can never be written, and goes on with the rest', async () => {
    const { fallback, queue, failWith, told } = setUp()
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
    const { memory, fallback, queue, failWith, told, time } = setUp()
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

  it('leaves the writes of other namespaces in a queue that they share', async () => {
    const { memory, fallback, queue } = setUp()
    const write = { scope: 'long-term', key: 'key', queuedAt: 0 } as const
    await queue.append({ ...write, namespace: 'other', value: 'theirs' })
    await queue.append({ ...write, namespace: 'default', value: 'ours' })
    expect(await fallback.drain()).toEqual({ written: 1, superseded: 0, waiting: 0, dead: 0 })
    expect(await memory.read('long-term', 'key')).toBe('ours')
    expect(await queue.items()).toMatchObject([{ namespace: 'other', value: 'theirs' }])
  })

  it('leaves the queue as it is when the memory is closed', async () => {
    const { memory, fallback, queue, failWith } = setUp()
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'key', 1)
    const before = await queue.items()
    await memory.close()
    await expect(fallback.drain()).rejects.toMatchObject({ code: MemoryErrorCode.CLOSED })
    expect(await queue.items()).toEqual(before)
  })

  it('keeps no secret and no private value in the queue', async () => {
    const encryptionKey = new Uint8Array(32)
    const { fallback, memory, queue, failWith } = setUp({ encryptionKey })
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'login', { password: 'hunter2hunter2' })
    await fallback.writeWithDegradation('long-term', 'diary', 'private words', { encrypt: true })
    const lying = JSON.stringify(await queue.items())
    expect(lying).not.toContain('hunter2')
    expect(lying).not.toContain('private')
    failWith(null)
    expect(await fallback.drain()).toMatchObject({ written: 2 })
    expect(await memory.read('long-term', 'diary')).toBe('private words')
  })

  it('queues no words of what is to be encrypted, by which it would be found', async () => {
    const { fallback, queue, failWith } = setUp({ encryptionKey: new Uint8Array(32) })
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'diary', 'first', { encrypt: true })
    for (const found of [{ text: 'private words' }, { embedding: [1, 0] }]) {
      const write = fallback.writeWithDegradation('long-term', 'diary', 'x', { encrypt: true, ...found })
      await expect(write).rejects.toMatchObject({ code: MemoryErrorCode.INVALID_INPUT })
    }
    expect(await queue.items()).toHaveLength(1)
  })

  it('does not queue what is to be encrypted when it has no key', async () => {
    const { fallback, queue, failWith } = setUp()
    failWith(MemoryErrorCode.TIMEOUT)
    const write = fallback.writeWithDegradation('long-term', 'diary', 'private', { encrypt: true })
    await expect(write).rejects.toMatchObject({ code: MemoryErrorCode.TIMEOUT })
    expect(await queue.items()).toEqual([])
  })

  it('refuses what the memory would refuse, also behind a write that waits', async () => {
    const { fallback, queue, failWith } = setUp()
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'key', 'first')
    const lying = await queue.items()
    const refusals = [
      ['private', { encrypt: true }, MemoryErrorCode.NOT_SUPPORTED],
      [new Date(0), {}, MemoryErrorCode.INVALID_INPUT],
      ['late', { ttl: -1 }, MemoryErrorCode.INVALID_INPUT],
      [{ sealed: 'aes-256-gcm', v: 1, kid: 'k', iv: '', data: '' }, {}, MemoryErrorCode.INVALID_INPUT],
    ] as const
    for (const [value, options, code] of refusals) {
      const write = fallback.writeWithDegradation<unknown>('long-term', 'key', value, options)
      await expect(write).rejects.toMatchObject({ code })
    }
    expect(await queue.items()).toEqual(lying)
  })

  it('makes every queued write of a key whose schema fills in what is missing', async () => {
    const counter = z.object({ name: z.string(), count: z.number().default(0) })
    const { memory, fallback, queue, time, failWith } = setUp({ schemas: { working: { counter } } })
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

  it('keeps no secret of a text, a type or a tag in the queue', async () => {
    const { fallback, queue, failWith } = setUp()
    const secret = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
    failWith(MemoryErrorCode.TIMEOUT)
    const options = { text: `the ${secret}`, type: secret, tags: [secret, 't'] }
    await fallback.writeWithDegradation('long-term', 'key', 1, options)
    expect(JSON.stringify(await queue.items())).not.toContain(secret)
    expect((await queue.items())[0]?.options?.tags).toContain('t')
  })

  it('leaves what somebody wrote while the store did not answer', async () => {
    const { memory, fallback, time } = setUp()
    const hanging = { ...memory, write: () => answer }
    let end: (error: unknown) => void = () => {}
    const answer = new Promise<never>((_, reject) => {
      end = reject
    })
    const queue = createInMemoryQueue()
    const slow = createMemoryFallback({ memory: hanging, queue, clock: time.clock, onDegraded: () => {} })
    const late = slow.writeWithDegradation('long-term', 'key', 'older')
    time.advance(1000)
    await fallback.writeWithDegradation('long-term', 'key', 'newer')
    time.advance(1000)
    end(new MemoryError('no answer', MemoryErrorCode.TIMEOUT))
    expect(await late).toBe('queued')
    const drained = await createMemoryFallback({
      memory,
      queue,
      clock: time.clock,
      onDegraded: () => {},
    }).drain()
    expect(drained).toMatchObject({ written: 0, superseded: 1 })
    expect(await memory.read('long-term', 'key')).toBe('newer')
  })

  it('gives way to what somebody writes between the look at a key and the write', async () => {
    for (const isNew of [true, false]) {
      const { memory, fallback, queue, time, failWith } = setUp()
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

  it('makes a write of the same value with other options', async () => {
    const { memory, fallback, time, failWith } = setUp({ encryptionKey: new Uint8Array(32) })
    await memory.write('long-term', 'key', 'value')
    time.advance(10)
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'key', 'value', { tags: ['new'] })
    await fallback.writeWithDegradation('long-term', 'key', 'value', { encrypt: true })
    failWith(null)
    time.advance(10)
    expect(await fallback.drain()).toMatchObject({ written: 2 })
    const record = await memory.read('long-term', 'key', { includeMetadata: true })
    expect(record?.metadata).toMatchObject({ encrypted: true, tags: [] })
  })

  it('keeps a write that is entering the queue while the one before it is drained', async () => {
    const { memory, queue, time, failWith } = setUp()
    const { append } = queue
    let enter: () => void = () => {}
    const fallback = createMemoryFallback({ memory, queue, clock: time.clock, onDegraded: () => {} })
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
    const { memory, fallback, queue, time, failWith } = setUp()
    const write = { namespace: 'default', scope: 'long-term', key: 'key', queuedAt: time.clock() } as const
    await queue.append({ ...write, value: 'first' })
    await queue.append({ ...write, value: 'bad', options: { ttl: -1 } })
    await queue.append({ ...write, value: 'last' })
    time.advance(10)
    failWith(null)
    expect(await fallback.drain()).toEqual({ written: 2, superseded: 0, waiting: 0, dead: 1 })
    expect(await memory.read('long-term', 'key')).toBe('last')
  })

  it('reads the queue a few times, not for each of many writes', async () => {
    const { memory, queue, time } = setUp()
    let reads = 0
    const counting: typeof queue = {
      ...queue,
      items(after) {
        reads++
        return queue.items(after)
      },
    }
    const fallback = createMemoryFallback({
      memory,
      queue: counting,
      clock: time.clock,
      onDegraded: () => {},
    })
    const write = { namespace: 'default', scope: 'working', queuedAt: time.clock() } as const
    for (let i = 0; i < 500; i++) await queue.append({ ...write, key: `key ${i}`, value: i })
    expect(await fallback.drain()).toMatchObject({ written: 500 })
    expect(reads).toBeLessThan(10)
    expect(await queue.items()).toEqual([])
  })

  it('refuses when the queue is full', async () => {
    const { fallback, failWith } = setUp({ queue: createInMemoryQueue({ capacity: 1 }) })
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'a', 1)
    await expect(fallback.writeWithDegradation('long-term', 'b', 1)).rejects.toMatchObject({
      code: MemoryErrorCode.QUOTA_EXCEEDED,
    })
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
