import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openFailing } from '../../test/failing-memory.ts'
import { MemoryError, MemoryErrorCode } from '../errors.ts'
import { createSealer, type Envelope } from '../front/encryption.ts'
import type { MemoryScope } from '../scope.ts'
import { createMemoryFallback, type Degradation } from './fallback.ts'
import { createInMemoryQueue } from './write-queue.ts'

it.each([
  ['onDegraded', { onDegraded: undefined }],
  ['memory', { memory: null }],
  ['queue', { queue: {} }],
  ['"onDegarded"', { onDegarded: () => {} }],
])('refuses options with a wrong %s', (told, wrong) => {
  const options = { memory: openFailing().memory, onDegraded: () => {}, ...wrong }
  expect(() => createMemoryFallback(options as never)).toThrow(
    expect.objectContaining({ code: MemoryErrorCode.INVALID_INPUT, message: expect.stringContaining(told) }),
  )
})

it('has a queue in memory that refuses options of no name, and calls once it is closed', async () => {
  expect(() => createInMemoryQueue({ cap: 1 } as never)).toThrow('Unrecognized key: "cap"')
  const queue = createInMemoryQueue()
  await queue.close()
  await expect(queue.items()).rejects.toMatchObject({ code: MemoryErrorCode.CLOSED })
})

describe('readWithFallback', () => {
  it('answers the value, and the fallback when it is absent or cannot be read', async () => {
    const { memory, fallback, failWith, told } = openFailing()
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

  it('hides no scope and no key that are none', async () => {
    const { fallback, told } = openFailing()
    const read = (scope: string, key: string): Promise<number> =>
      fallback.readWithFallback(scope as MemoryScope, key, async () => 7)
    for (const wrong of [read('lt', 'key'), read('long-term', '')])
      await expect(wrong).rejects.toMatchObject({ code: MemoryErrorCode.INVALID_INPUT })
    expect(told).toEqual([])
  })

  it('does not hide what is no failure of a memory', async () => {
    const { memory } = openFailing()
    const broken = { ...memory, read: () => Promise.reject(new TypeError('broken')) }
    const fallback = createMemoryFallback({ memory: broken, onDegraded: () => {} })
    await expect(fallback.readWithFallback('long-term', 'key', async () => 7)).rejects.toThrow(TypeError)
  })

  it('does not hide a failure of the fallback itself', async () => {
    const { fallback } = openFailing()
    const broken = (): Promise<never> => Promise.reject(new Error('broken'))
    await expect(fallback.readWithFallback('long-term', 'absent', broken)).rejects.toThrow('broken')
  })
})

describe('writeWithDegradation', () => {
  it('cleans up and tries again when the scope is full', async () => {
    const { memory, fallback, time, told } = openFailing()
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
    const { memory, fallback, queue, time, told, failWith } = openFailing()
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

  it('tells of a write that only a clean-up made room for', async () => {
    const { memory, time } = openFailing()
    await memory.write('long-term', 'expiring', 0, { ttl: 1000 })
    time.advance(1000)
    let isFull = true
    const full: typeof memory = {
      ...memory,
      async write(...given) {
        if (isFull) throw new MemoryError('full', MemoryErrorCode.QUOTA_EXCEEDED)
        await memory.write(...given)
      },
      async cleanup(options) {
        const result = await memory.cleanup(options)
        isFull = result.deleted !== 1
        return result
      },
    }
    const told: Degradation[] = []
    const fallback = createMemoryFallback({
      memory: full,
      clock: time.clock,
      onDegraded: (each) => told.push(each),
    })
    expect(await fallback.writeWithDegradation('long-term', 'key', 1)).toBe('written after clean-up')
    expect(await memory.read('long-term', 'key')).toBe(1)
    expect(told).toMatchObject([{ kind: 'clean-up', scope: 'long-term', key: 'key' }])
  })

  it('queues what the store does not answer after a clean-up', async () => {
    const { memory, queue, time } = openFailing()
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

  it('queues a key no longer, a little after another process has drained it', async () => {
    const { memory, fallback, queue, time, failWith } = openFailing()
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'key', 1)
    failWith(null)
    await createMemoryFallback({ memory, queue, clock: time.clock, onDegraded: () => {} }).drain()
    time.advance(5000)
    expect(await fallback.writeWithDegradation('long-term', 'key', 2)).toBe('written')
  })

  it('looks into the queue again when the clock was put back', async () => {
    const { memory, fallback, queue, time, failWith } = openFailing()
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'key', 1)
    failWith(null)
    await createMemoryFallback({ memory, queue, clock: time.clock, onDegraded: () => {} }).drain()
    time.advance(-1)
    expect(await fallback.writeWithDegradation('long-term', 'key', 2)).toBe('written')
  })

  it('queues nothing behind a write that failed for good', async () => {
    const { fallback, queue } = openFailing()
    const write = { namespace: 'default', scope: 'long-term', key: 'key', value: 1, queuedAt: 0 } as const
    await queue.update({ ...(await queue.append(write)), dead: true })
    expect(await fallback.writeWithDegradation('long-term', 'key', 2)).toBe('written')
  })

  it('fails as the memory does where there is no queue', async () => {
    const { memory, failWith } = openFailing()
    const fallback = createMemoryFallback({ memory, onDegraded: () => {} })
    failWith(MemoryErrorCode.TIMEOUT)
    await expect(fallback.writeWithDegradation('long-term', 'key', 1)).rejects.toMatchObject({
      code: MemoryErrorCode.TIMEOUT,
    })
    expect(await fallback.drain()).toEqual({ written: 0, superseded: 0, waiting: 0, dead: 0 })
  })

  it.each([
    ['after the clock was put back', -60_000],
    ['in the millisecond of two others', 0],
  ])('takes a queued write for the last one %s', async (_, milliseconds) => {
    const { memory, fallback, time, failWith } = openFailing()
    await fallback.writeWithDegradation('long-term', 'key', 1)
    await fallback.writeWithDegradation('long-term', 'key', 2)
    time.advance(milliseconds)
    failWith(MemoryErrorCode.TIMEOUT)
    expect(await fallback.writeWithDegradation('long-term', 'key', 3)).toBe('queued')
    failWith(null)
    expect(await fallback.drain()).toMatchObject({ written: 1 })
    expect(await memory.read('long-term', 'key')).toBe(3)
  })

  it('leaves the queue as it is when the memory is closed', async () => {
    const { memory, fallback, queue, failWith } = openFailing()
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'key', 1)
    const before = await queue.items()
    await memory.close()
    await expect(fallback.drain()).rejects.toMatchObject({ code: MemoryErrorCode.CLOSED })
    expect(await queue.items()).toEqual(before)
  })

  it('keeps no secret and no private value in the queue', async () => {
    const encryptionKey = new Uint8Array(32)
    const { fallback, memory, queue, failWith } = openFailing({ encryptionKey })
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
    const { fallback, queue, failWith } = openFailing({ encryptionKey: new Uint8Array(32) })
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'diary', 'first', { encrypt: true })
    for (const found of [{ text: 'private words' }, { embedding: [1, 0] }]) {
      const write = fallback.writeWithDegradation('long-term', 'diary', 'x', { encrypt: true, ...found })
      await expect(write).rejects.toMatchObject({ code: MemoryErrorCode.INVALID_INPUT })
    }
    expect(await queue.items()).toHaveLength(1)
  })

  it('seals what it queues for the queue alone', async () => {
    const encryptionKey = new Uint8Array(32)
    const { fallback, queue, failWith } = openFailing({ encryptionKey })
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'diary', 'private words', { encrypt: true })
    const [item] = await queue.items()
    const address = { namespace: 'default', scope: 'long-term', key: 'diary' } as const
    const opened = createSealer(encryptionKey).open(address, item?.value as Envelope)
    await expect(opened).rejects.toMatchObject({ code: MemoryErrorCode.CORRUPTION })
  })

  it('refuses a value behind one that waits that has no longer its form without its secrets', async () => {
    const schemas = { 'long-term': { login: z.object({ password: z.string().max(12) }) } }
    const { fallback, queue, failWith } = openFailing({ schemas })
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'login', { password: 'none' })
    const write = fallback.writeWithDegradation('long-term', 'login', { password: 'hunter2hunt' })
    await expect(write).rejects.toMatchObject({ code: MemoryErrorCode.INVALID_INPUT })
    expect(await queue.items()).toHaveLength(1)
  })

  it('leaves an encrypted write where there is no key for it, and makes it where there is one', async () => {
    const encryptionKey = new Uint8Array(32)
    const { memory, fallback, queue, time, failWith } = openFailing({ encryptionKey })
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'key', 1, { encrypt: true })
    failWith(null)
    const keyless = createMemoryFallback({ memory, queue, clock: time.clock, onDegraded: () => {} })
    expect(await keyless.drain()).toMatchObject({ waiting: 1, dead: 0 })
    expect(await queue.items()).toMatchObject([
      { lastError: 'a queued write is encrypted: pass encryptionKey' },
    ])
    time.advance(1000)
    expect(await fallback.drain()).toMatchObject({ written: 1 })
    expect(await memory.read('long-term', 'key')).toBe(1)
  })

  it('does not queue what is to be encrypted when it has no key', async () => {
    const { fallback, queue, failWith } = openFailing()
    failWith(MemoryErrorCode.TIMEOUT)
    const write = fallback.writeWithDegradation('long-term', 'diary', 'private', { encrypt: true })
    await expect(write).rejects.toMatchObject({ code: MemoryErrorCode.TIMEOUT })
    expect(await queue.items()).toEqual([])
  })

  it('refuses what the memory would refuse, also behind a write that waits', async () => {
    const { fallback, queue, failWith } = openFailing()
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

  it('keeps no secret of a text, a type or a tag in the queue', async () => {
    const { fallback, queue, failWith } = openFailing()
    const secret = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
    failWith(MemoryErrorCode.TIMEOUT)
    const options = { text: `the ${secret}`, type: secret, tags: [secret, 't'] }
    await fallback.writeWithDegradation('long-term', 'key', 1, options)
    expect(JSON.stringify(await queue.items())).not.toContain(secret)
    expect((await queue.items())[0]?.options?.tags).toContain('t')
  })

  it('evicts nothing for a value that would not fit into an empty scope', async () => {
    const { memory, fallback } = openFailing()
    await memory.write('short-term', 'old', 'x'.repeat(90))
    const write = fallback.writeWithDegradation('short-term', 'new', 'x'.repeat(120))
    await expect(write).rejects.toMatchObject({ code: MemoryErrorCode.QUOTA_EXCEEDED })
    expect(await memory.exists('short-term', 'old')).toBe(true)
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('no room in the log')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no room in the log'))],
  ])('answers as ever where who is told of it %s', async (_, onDegraded) => {
    const { memory, fallback, failWith } = openFailing({ onDegraded })
    await memory.write('short-term', 'old', 'x'.repeat(90))
    expect(await fallback.writeWithDegradation('short-term', 'new', 'x'.repeat(80))).toMatch(/^written/)
    failWith(MemoryErrorCode.TIMEOUT)
    expect(await fallback.writeWithDegradation('long-term', 'key', 1)).toBe('queued')
    expect(await fallback.readWithFallback('long-term', 'key', async () => 'fallback')).toBe('fallback')
    failWith(MemoryErrorCode.NOT_SUPPORTED)
    expect(await fallback.drain()).toMatchObject({ dead: 1 })
  })

  it('refuses when the queue is full', async () => {
    const { fallback, failWith } = openFailing({ queue: createInMemoryQueue({ capacity: 1 }) })
    failWith(MemoryErrorCode.TIMEOUT)
    await fallback.writeWithDegradation('long-term', 'a', 1)
    await expect(fallback.writeWithDegradation('long-term', 'b', 1)).rejects.toMatchObject({
      code: MemoryErrorCode.QUOTA_EXCEEDED,
    })
  })
})
