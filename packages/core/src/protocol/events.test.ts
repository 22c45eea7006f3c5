import { expect, it, vi } from 'vitest'
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
