import { createInMemoryStore, createMemoryManager, type MemoryManager } from '@recall/core'
import type { FileStore } from '@recall/store-file'
import { expect, it } from 'vitest'
import { everyEntry } from '../src/memory/every-entry.ts'

const writeAnew = (memory: MemoryManager, keys: readonly string[]) =>
  memory.batchWrite(
    'long-term',
    keys.map((key) => ({ key, value: 'anew' })),
  )
const remove = async (memory: MemoryManager, keys: readonly string[]): Promise<void> => {
  for (const key of keys) await memory.delete('long-term', key)
}

it.each([
  ['a few of them are written anew', 0, 3, writeAnew],
  ['all that were yielded are written anew', 0, 500, writeAnew],
  ['a few of them are deleted', 0, 3, remove],
  ['the last of them is deleted', 499, 500, remove],
] as const)('yields each entry once also when %s meanwhile', async (_, from, to, change) => {
  let now = Date.parse('2026-03-06T12:00:00Z')
  // It answers as files do, and faster.
  const store = createInMemoryStore() as unknown as FileStore
  const memory = createMemoryManager({ stores: store, clock: () => now++ })
  const all = Array.from({ length: 1200 }, (_, i) => String(i))
  await writeAnew(memory, all)

  const found: string[] = []
  const place = { scope: 'long-term', namespace: 'default' } as const
  for await (const { key } of everyEntry(store, place, { now })) {
    found.push(key)
    if (found.length === 500) await change(memory, found.slice(from, to))
  }
  expect(found.toSorted()).toEqual(all.toSorted())
})
