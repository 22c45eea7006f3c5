import { expect } from 'vitest'
import type { MemoryManager } from '../memory-manager.ts'
import { memoryScopes } from '../scope.ts'
import { keysFound, refused } from './expectations.ts'
import { law, type Theme } from './harness.ts'

/** A string whose JSON takes exactly this many bytes. */
const textOf = (bytes: number): string => 'x'.repeat(bytes - 2)

const room = { working: 10_000, 'short-term': 10_000, 'long-term': 10_000, episodic: 10_000 }
const options = { policies: { quotas: room } }

/** Short-term entries of 2,000 bytes, a second apart, written and then used in the order given. */
async function fill(memory: MemoryManager, keys: readonly string[], tick: () => void): Promise<void> {
  for (const key of keys) {
    tick()
    await memory.write('short-term', key, textOf(2000), { index: false })
  }
}

export const quotas: Theme = {
  title: 'Quotas and eviction',
  laws: [
    law(
      'A scope keeps as many bytes as its quota allows, and refuses the next one.',
      async ({ memory }) => {
        for (const scope of ['working', 'long-term', 'episodic'] as const) {
          await memory.write(scope, 'a', textOf(6000))
          await memory.write(scope, 'b', textOf(4000))
          await refused('QUOTA_EXCEEDED', () => memory.write(scope, 'c', 1))
          expect(await keysFound(memory, scope, {}, { sortBy: 'accessCount' })).toEqual(['a', 'b'])
        }
      },
      options,
    ),

    law(
      'What is overwritten, deleted, cleared or expired no longer counts.',
      async ({ memory, time }) => {
        await memory.write('long-term', 'a', textOf(9000))
        await memory.write('long-term', 'a', textOf(8000))
        await memory.write('long-term', 'b', textOf(2000))
        await memory.delete('long-term', 'a')
        await memory.write('long-term', 'c', textOf(8000), { ttl: 1000 })
        time.advance(1000)
        await memory.write('long-term', 'd', textOf(8000))
        await memory.clear('long-term')
        await memory.write('long-term', 'e', textOf(10_000))
        expect(await keysFound(memory, 'long-term', {})).toEqual(['e'])
      },
      options,
    ),

    law(
      'A value larger than its quota is refused before anything is evicted.',
      async ({ memory, time }) => {
        await fill(memory, ['a', 'b'], () => time.advance(1))
        await refused('QUOTA_EXCEEDED', () => memory.write('short-term', 'big', textOf(10_001)))
        expect(await keysFound(memory, 'short-term', {})).toEqual(['b', 'a'])
      },
      options,
    ),

    law(
      'A full short-term memory makes room by evicting what has gone unused longest.',
      async ({ memory, time }) => {
        await fill(memory, ['a', 'b', 'c', 'd', 'e'], () => time.advance(1))
        time.advance(1)
        await memory.read('short-term', 'a')
        time.advance(1)
        await memory.write('short-term', 'f', textOf(2000))
        expect((await keysFound(memory, 'short-term', {})).sort()).toEqual(['a', 'c', 'd', 'e', 'f'])
      },
      options,
    ),

    law(
      'A clean-up with a threshold evicts down to that share of the quota, from short-term memory alone.',
      async ({ memory, time }) => {
        await fill(memory, ['a', 'b', 'c', 'd', 'e'], () => time.advance(1))
        const others = memoryScopes.filter((scope) => scope !== 'short-term')
        for (const scope of others) await memory.write(scope, 'kept', textOf(9000))
        const dry = await memory.cleanup({ threshold: 0.5, dryRun: true })
        expect(dry).toMatchObject({ deleted: 3, errors: [] })
        expect(await keysFound(memory, 'short-term', {})).toHaveLength(5)
        expect(await memory.cleanup({ threshold: 0.8 })).toMatchObject({ deleted: 1, errors: [] })
        expect(await memory.cleanup({ threshold: 0.8 })).toMatchObject({ deleted: 0, errors: [] })
        expect(await keysFound(memory, 'short-term', {})).toEqual(['e', 'd', 'c', 'b'])
        for (const scope of others) expect(await memory.exists(scope, 'kept')).toBe(true)
      },
      options,
    ),

    law(
      'Clean-ups at the same moment evict no more than one of them would.',
      async ({ memory, reopen, time }) => {
        await fill(memory, ['a', 'b', 'c', 'd', 'e'], () => time.advance(1))
        const handles = [memory, memory, await reopen()]
        const runs = await Promise.all(handles.map((handle) => handle.cleanup({ threshold: 0.6 })))
        expect(runs.flatMap(({ errors }) => errors)).toEqual([])
        expect(runs.reduce((sum, { deleted }) => sum + deleted, 0)).toBe(2)
        expect(await keysFound(memory, 'short-term', {})).toEqual(['e', 'd', 'c'])
      },
      options,
    ),

    law(
      'A batch that does not fit as a whole is refused as a whole.',
      async ({ memory }) => {
        const writes = ['a', 'b', 'c'].map((key) => ({ key, value: textOf(4000) }))
        await refused('QUOTA_EXCEEDED', () => memory.batchWrite('long-term', writes))
        expect(await keysFound(memory, 'long-term', {})).toEqual([])
        await memory.batchWrite('long-term', writes.slice(1))
        await memory.atomicUpdate('long-term', [
          { operation: 'delete', key: 'b' },
          { operation: 'set', key: 'a', value: textOf(4000) },
        ])
        expect((await keysFound(memory, 'long-term', {})).sort()).toEqual(['a', 'c'])
      },
      options,
    ),

    law(
      'Writes at the same moment do not exceed the quota together.',
      async ({ memory }) => {
        const writes = Array.from({ length: 20 }, (_, i) => memory.write('long-term', `k${i}`, textOf(1000)))
        const kept = (await Promise.allSettled(writes)).filter(({ status }) => status === 'fulfilled')
        expect(kept.length).toBeLessThanOrEqual(10)
        expect(await keysFound(memory, 'long-term', {})).toHaveLength(kept.length)
      },
      options,
    ),

    law(
      'What another handle keeps counts too, five seconds later at the latest.',
      async ({ memory, reopen, time }) => {
        const other = await reopen()
        await memory.write('long-term', 'mine', textOf(4000))
        await other.write('long-term', 'theirs', textOf(6000))
        time.advance(5001)
        await refused('QUOTA_EXCEEDED', () => memory.write('long-term', 'more', textOf(4000)))
      },
      options,
    ),

    law(
      'A quota of one namespace is not used up by another.',
      async ({ memory, reopen }) => {
        const other = await reopen({ namespace: 'other' })
        await other.write('long-term', 'key', textOf(10_000))
        await memory.write('long-term', 'key', textOf(10_000))
        expect(await memory.exists('long-term', 'key')).toBe(true)
      },
      options,
    ),

    law(
      'Making room for a write evicts nothing that the write itself replaces or deletes.',
      async ({ memory, time }) => {
        await fill(memory, ['a', 'b', 'c', 'd', 'e'], () => time.advance(1))
        const record = await memory.read('short-term', 'a', { includeMetadata: true })
        const { createdAt = 0, updatedAt = 0 } = record?.metadata ?? {}
        for (const key of ['b', 'c', 'd', 'e']) {
          time.advance(1)
          await memory.read('short-term', key)
        }
        time.advance(1)
        await memory.atomicUpdate('short-term', [
          { operation: 'set', key: 'a', value: textOf(5000), ifUpdatedAt: updatedAt },
          { operation: 'delete', key: 'b', ifUpdatedAt: updatedAt + 1 },
        ])
        const after = await memory.read('short-term', 'a', { includeMetadata: true })
        expect(after?.metadata).toMatchObject({ createdAt, accessCount: 2 })
        expect(await keysFound(memory, 'short-term', {})).toEqual(['a', 'e', 'd'])
      },
      options,
    ),
  ],
}
