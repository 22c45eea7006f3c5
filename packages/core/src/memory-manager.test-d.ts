import { expectTypeOf } from 'vitest'
import * as z from 'zod/mini'
import { createMemoryManager } from './front/create-memory-manager.ts'
import type { MemoryManager, MemoryMatch, MemoryRecord, ReadOptions } from './memory-manager.ts'
import { createInMemoryStore } from './stores/in-memory-store.ts'

interface Goal {
  name: string
  steps: number
}

/** Never run: `tsc` checks it. */
export async function plain(memory: MemoryManager): Promise<void> {
  expectTypeOf(await memory.read<Goal>('working', 'goal')).toEqualTypeOf<Goal | null>()
  expectTypeOf(await memory.read('working', 'goal')).toEqualTypeOf<unknown>()
  expectTypeOf(
    await memory.read<Goal>('working', 'goal', { includeMetadata: true }),
  ).toEqualTypeOf<MemoryRecord<Goal> | null>()
  expectTypeOf(
    await memory.read<Goal>('working', 'goal', { includeMetadata: false }),
  ).toEqualTypeOf<Goal | null>()
  const options: ReadOptions = { includeMetadata: Math.random() < 0.5 }
  expectTypeOf(await memory.read<Goal>('working', 'goal', options)).toEqualTypeOf<
    Goal | MemoryRecord<Goal> | null
  >()
  expectTypeOf(await memory.search<Goal>('episodic', { text: 'ship' })).toEqualTypeOf<MemoryMatch<Goal>[]>()
  expectTypeOf(await memory.batchRead<Goal>('working', ['goal'])).toEqualTypeOf<Map<string, Goal>>()
  expectTypeOf(await memory.exists('working', 'goal')).toEqualTypeOf<boolean>()

  await memory.write<Goal>('working', 'goal', { name: 'ship', steps: 3 })
  await memory.write('working', 'anything', ['of', { any: 'shape' }])
  // @ts-expect-error there is no such scope
  await memory.write('longterm', 'goal', 1)
  // @ts-expect-error a ttl is a number
  await memory.write('working', 'goal', 1, { ttl: '1h' })
  // @ts-expect-error there is no such order
  await memory.search('working', {}, { sortBy: 'name' })
}

export async function registered(memory: MemoryManager<{ working: { goal: Goal } }>): Promise<void> {
  expectTypeOf(await memory.read('working', 'goal')).toEqualTypeOf<Goal | null>()
  expectTypeOf(
    await memory.read('working', 'goal', { includeMetadata: true }),
  ).toEqualTypeOf<MemoryRecord<Goal> | null>()
  expectTypeOf(await memory.read('working', 'other')).toEqualTypeOf<unknown>()
  expectTypeOf(await memory.read<number>('long-term', 'goal')).toEqualTypeOf<number | null>()
  await memory.write('working', 'goal', { name: 'ship', steps: 3 })
  await memory.write('working', 'other', ['any', 'shape'])
  await memory.write('long-term', 'goal', ['any', 'shape'])
  // @ts-expect-error a goal has steps
  await memory.write('working', 'goal', { name: 'ship' })
  // @ts-expect-error a goal is no number
  await memory.write('working', 'goal', 3)
}

export async function inferred(): Promise<void> {
  await using memory = createMemoryManager({
    stores: createInMemoryStore(),
    schemas: { working: { goal: z.object({ name: z.string(), steps: z.number() }) } },
  })
  expectTypeOf(await memory.read('working', 'goal')).toEqualTypeOf<Goal | null>()
  expectTypeOf(await memory.read('episodic', 'goal')).toEqualTypeOf<unknown>()
  await memory.write('working', 'goal', { name: 'ship', steps: 3 })
  await memory.write('working', 'other', 3)
  // @ts-expect-error a goal has steps
  await memory.write('working', 'goal', { name: 'ship' })
}

export function assignable(typed: MemoryManager<{ working: { goal: Goal } }>): MemoryManager {
  return typed
}

export async function lists(
  memory: MemoryManager,
  tags: readonly string[],
  vector: readonly number[],
): Promise<void> {
  await memory.write('working', 'key', 1, { tags, embedding: vector })
  await memory.search('working', { tags, embedding: vector })
  await memory.clear('working', { tags })
}
