import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { conversationKey, createInMemoryStore, createMemoryManager, sessionSummaryKey } from '@recall/core'
import { createMemoryFallback } from '@recall/core/protocol'
import { expect, it } from 'vitest'
import { checkUp, defaultFileSystem, openFileStore, readConfig } from '../src/index.ts'
import { openWriteQueue } from '../src/write-queue.ts'
import { temporaryRoot } from './temporary-root.ts'

// Made by `make-state-fixture.ts` in checkouts of those versions.
const fixtures = fileURLToPath(new URL('fixtures', import.meta.url))

const copyOf = (name: string): string => {
  const root = temporaryRoot()
  cpSync(join(fixtures, name), root, { recursive: true })
  return root
}

it.each([
  ['first', 'entity'],
  ['first', 'user'],
  ['cold-and-queue', 'entity'],
  ['cold-and-queue', 'user'],
] as const)(
  'window, archives, notes and settings of the %s version open in the %s layout',
  async (name, layout) => {
    const root = copyOf(`${name}/${layout}`)
    const store = await openFileStore({ root, layout })
    const memory = createMemoryManager({ stores: store, clock: () => Date.UTC(2026, 0, 12) })
    const window = await memory.search('short-term', { text: 'ferry' }, { touch: false })
    expect(window.map(({ key }) => key).sort()).toEqual([sessionSummaryKey('s1'), sessionSummaryKey('s2')])
    expect(await memory.read('short-term', sessionSummaryKey('s2'))).toMatchObject({
      sessionId: 's2',
      messageCount: 2,
      summary: 'The ferry number2 was late.',
      archive: conversationKey('s2'),
    })
    expect(await memory.read('episodic', conversationKey('s1'))).toMatchObject({
      sessionId: 's1',
      date: '2026-01-01T00:00:00.000Z',
      topics: ['ferry'],
      source: 'session',
      body: expect.stringContaining('Where is it?'),
    })
    expect(await memory.read('short-term', 'lasts', { includeMetadata: true })).toMatchObject({
      value: { until: 'tomorrow' },
      metadata: { tags: ['a', 'b'] },
    })
    const storm = await memory.search('episodic', { text: 'spring' }, { includeArchived: true })
    expect(storm.map(({ value }) => value)).toEqual(['A storm came in spring.'])
    expect(readConfig(defaultFileSystem, root, store.layout)).toEqual({
      config: { ephemeral: { maxEntries: 7 } },
    })

    // And they are written on.
    await memory.write('episodic', 'storm', 'A storm came in autumn.')
    await memory.write('long-term', 'MEMORY.md#tides', 'The tide turns at one.')
    expect(await memory.read('long-term', 'MEMORY.md#tides')).toBe('The tide turns at one.')
    const findings = checkUp(defaultFileSystem, store, { deep: true, fix: false })
    expect(findings.filter(({ ok }) => !ok)).toEqual([])
    await memory.close()
  },
)

it('what the first write queue held is written, the latest last', async () => {
  const queue = await openWriteQueue({ folder: join(copyOf('cold-and-queue'), 'queue') })
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  const fallback = createMemoryFallback({ memory, queue, onDegraded: () => {} })
  expect(await fallback.drain()).toMatchObject({ waiting: 0, dead: 0 })
  expect(await memory.read('long-term', 'queued', { includeMetadata: true })).toMatchObject({
    value: 'write 2',
    metadata: { tags: ['late'] },
  })
  await queue.close()
})
