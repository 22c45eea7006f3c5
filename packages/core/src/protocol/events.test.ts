import { expect, it, vi } from 'vitest'
import { createTicker } from '../conformance/ticker.ts'
import { createMemoryManager } from '../front/create-memory-manager.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { type MemoryEvent, observeMemory } from './events.ts'

const token = ['gh', 'p_', 'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY2zA4'].join('')

it('tells of a key without its secrets, and of a generated key as it is', async () => {
  const events: MemoryEvent[] = []
  const memory = observeMemory(createMemoryManager({ stores: createInMemoryStore() }), (event) =>
    events.push(event),
  )
  await memory.write('long-term', `token ${token}`, 1).catch(() => undefined)
  const generated = 'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY'
  await memory.write('long-term', generated, 1)
  expect(JSON.stringify(events)).not.toContain(token)
  expect(events.map(({ key, error }) => [key, error])).toEqual([
    ['token [redacted:github]', 'MEMORY_INVALID_INPUT'],
    [generated, undefined],
  ])
})

it('tells the scope of a clean-up, if it has one', async () => {
  const events: MemoryEvent[] = []
  const memory = observeMemory(createMemoryManager({ stores: createInMemoryStore() }), (event) =>
    events.push(event),
  )
  await memory.cleanup()
  await memory.cleanup({ scope: 'short-term' })
  expect(events.map((event) => ['scope' in event, event.scope])).toEqual([
    [false, undefined],
    [true, 'short-term'],
  ])
})

it('tells how long a call took, and how many entries it answered', async () => {
  const { clock, advance } = createTicker()
  const plain = createMemoryManager({ stores: createInMemoryStore(), clock })
  const slow = {
    ...plain,
    search: async <T>(...given: Parameters<typeof plain.search>) => {
      advance(7)
      return plain.search<T>(...given)
    },
  }
  const events: MemoryEvent[] = []
  const memory = observeMemory(slow, (event) => events.push(event), clock)
  for (const key of ['a', 'b']) await memory.write('long-term', key, 1)
  await memory.search('long-term', {})
  await memory.search('long-term', { embedding: [] }).catch(() => undefined)
  for (const key of ['a', 'absent']) await memory.read('long-term', key)
  await memory.batchRead('long-term', ['a', 'b', 'absent'])
  expect(events.map(({ name, duration }) => [name, duration])).toEqual([
    ['write', 0],
    ['write', 0],
    ['search', 7],
    ['search', 7],
    ['read', 0],
    ['read', 0],
    ['batchRead', 0],
  ])
  expect(events.map((event) => ('count' in event ? event.count : 'none'))).toEqual([
    'none',
    'none',
    2,
    'none',
    1,
    0,
    2,
  ])
})

it('has the capabilities of the memory', () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  expect(observeMemory(memory, () => {}).capabilities).toEqual(memory.capabilities)
})

it('drops what a listener throws, also when it is asynchronous', async () => {
  const unhandled = vi.fn()
  process.on('unhandledRejection', unhandled)
  const fail = (): never => {
    throw new Error('no room in the log')
  }
  for (const listener of [fail, async () => fail()]) {
    const memory = observeMemory(createMemoryManager({ stores: createInMemoryStore() }), listener)
    await memory.write('long-term', 'key', 1)
    expect(await memory.read('long-term', 'key')).toBe(1)
  }
  // Node tells of it when all that is due has run.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', unhandled)
  expect(unhandled).not.toHaveBeenCalled()
})

it.each([
  ['memory: must be a memory', { memory: undefined }],
  ['memory: must be a memory', { memory: Promise.resolve() }],
  ['onEvent: must be a function', { onEvent: undefined }],
  ['onEvent: must be a function', { onEvent: { onEvent() {} } }],
  ['clock: must be a function', { clock: 5 }],
])('says that %s, because nothing would ever be told: %o', (message, wrong) => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  const given = { memory, onEvent: () => {}, clock: Date.now, ...wrong }
  expect(() => observeMemory(given.memory as never, given.onEvent as never, given.clock as never)).toThrow(
    expect.objectContaining({
      code: 'MEMORY_INVALID_INPUT',
      message: expect.stringContaining(message),
    }),
  )
})
