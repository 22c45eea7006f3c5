import { expect } from 'vitest'
import { memoryScopes } from '../scope.ts'
import { keysFound } from './expectations.ts'
import { law, type Theme } from './harness.ts'

const hour = 60 * 60 * 1000

export const expiry: Theme = {
  title: 'Expiry',
  laws: [
    law(
      'Short-term entries expire one hour after their last access unless told otherwise.',
      async ({ memory, time }) => {
        await memory.write('short-term', 'key', 1)
        time.advance(hour - 1)
        expect(await memory.exists('short-term', 'key')).toBe(true)
        time.advance(1)
        expect(await memory.exists('short-term', 'key')).toBe(false)
      },
    ),

    law('Entries of the other scopes are kept for ever unless told otherwise.', async ({ memory, time }) => {
      const others = memoryScopes.filter((scope) => scope !== 'short-term')
      for (const scope of others) await memory.write(scope, 'key', 1)
      time.advance(100 * 365 * 24 * hour)
      for (const scope of others) expect(await memory.read(scope, 'key')).toBe(1)
    }),

    law('Infinity keeps a short-term entry for ever.', async ({ memory, time }) => {
      await memory.write('short-term', 'key', 1, { ttl: Number.POSITIVE_INFINITY })
      time.advance(100 * 365 * 24 * hour)
      const record = await memory.read('short-term', 'key', { includeMetadata: true })
      expect(record).toMatchObject({ value: 1, metadata: { expiresAt: null } })
    }),

    law('A ttl holds in every scope, and metadata say when it ends.', async ({ memory, time }) => {
      for (const scope of memoryScopes) {
        await memory.write(scope, 'key', 1, { ttl: 5000 })
        const record = await memory.read(scope, 'key', { includeMetadata: true })
        expect(record?.metadata.expiresAt).toBe(time.clock() + 5000)
      }
      time.advance(5000)
      for (const scope of memoryScopes) expect(await memory.read(scope, 'key')).toBeNull()
      await memory.write('long-term', 'key', 1, { ttl: 0.5 })
      const brief = await memory.read('long-term', 'key', { includeMetadata: true })
      expect(brief?.metadata.expiresAt).toBe(time.clock() + 1)
    }),

    law('Reading and finding an entry slide its expiry.', async ({ memory, time }) => {
      await memory.write('long-term', 'read', 'blue', { ttl: 1000 })
      await memory.write('long-term', 'found', 'green', { ttl: 1000 })
      await memory.write('long-term', 'left alone', 'red', { ttl: 1000 })
      for (let i = 0; i < 3; i++) {
        time.advance(800)
        expect(await memory.read('long-term', 'read')).toBe('blue')
        expect(await memory.search('long-term', { text: 'green' })).toHaveLength(1)
      }
      expect(await memory.exists('long-term', 'left alone')).toBe(false)
    }),

    law(
      'Asking whether a key exists and searching without touch do not slide it.',
      async ({ memory, time }) => {
        await memory.write('long-term', 'key', 'blue', { ttl: 1000 })
        time.advance(800)
        expect(await memory.exists('long-term', 'key')).toBe(true)
        expect(await keysFound(memory, 'long-term', { text: 'blue' })).toEqual(['key'])
        time.advance(200)
        expect(await memory.exists('long-term', 'key')).toBe(false)
      },
    ),

    law('An expired entry is invisible to every call.', async ({ memory, time }) => {
      await memory.write('long-term', 'key', { text: 'blue', n: 1 }, { ttl: 1000, tags: ['t'] })
      time.advance(1000)
      expect(await memory.read('long-term', 'key')).toBeNull()
      expect(await memory.read('long-term', 'key', { includeMetadata: true })).toBeNull()
      expect(await memory.exists('long-term', 'key')).toBe(false)
      expect(await memory.batchRead('long-term', ['key'])).toEqual(new Map())
      for (const query of [{}, { text: 'blue' }, { tags: ['t'] }, { filters: { n: 1 } }]) {
        expect(await memory.search('long-term', query)).toEqual([])
      }
    }),

    law('Expired entries take no place in a page.', async ({ memory, time }) => {
      await memory.write('long-term', 'kept', 'blue')
      await memory.write('long-term', 'kept too', 'blue')
      for (let i = 0; i < 10; i++) await memory.write('long-term', `gone ${i}`, 'blue', { ttl: 1000 })
      time.advance(1000)
      for (const query of [{}, { text: 'blue' }]) {
        expect((await keysFound(memory, 'long-term', query, { limit: 2 })).sort()).toEqual([
          'kept',
          'kept too',
        ])
        expect(await keysFound(memory, 'long-term', query, { limit: 1, offset: 1 })).toHaveLength(1)
      }
    }),

    law('An expired key may be written with overwrite false and starts anew.', async ({ memory, time }) => {
      await memory.write('long-term', 'key', 1, { ttl: 1000 })
      await memory.read('long-term', 'key')
      time.advance(1000)
      await memory.write('long-term', 'key', 2, { overwrite: false })
      const record = await memory.read('long-term', 'key', { includeMetadata: true })
      expect(record).toMatchObject({
        value: 2,
        metadata: { createdAt: time.clock(), accessCount: 1, expiresAt: null },
      })
    }),

    law('Overwriting replaces the ttl.', async ({ memory, time }) => {
      await memory.write('long-term', 'longer', 1, { ttl: 1000 })
      await memory.write('long-term', 'longer', 2)
      await memory.write('long-term', 'shorter', 1)
      await memory.write('long-term', 'shorter', 2, { ttl: 1000 })
      time.advance(1000)
      expect(await keysFound(memory, 'long-term', {})).toEqual(['longer'])
    }),

    law(
      'cleanup removes what has expired, counts it exactly and leaves the rest.',
      async ({ memory, time }) => {
        for (let i = 0; i < 3; i++) await memory.write('short-term', `gone ${i}`, i, { ttl: 1000 })
        await memory.write('short-term', 'kept', 1)
        time.advance(1000)
        const result = await memory.cleanup({ scope: 'short-term' })
        expect(result).toMatchObject({ deleted: 3, archived: 0, errors: [] })
        expect(result.duration).toBeGreaterThanOrEqual(0)
        expect((await memory.cleanup({ scope: 'short-term' })).deleted).toBe(0)
        expect(await keysFound(memory, 'short-term', {})).toEqual(['kept'])
      },
    ),

    law('A dry clean-up counts and deletes nothing.', async ({ memory, time }) => {
      await memory.write('short-term', 'gone', 1)
      time.advance(hour)
      expect((await memory.cleanup({ dryRun: true })).deleted).toBe(1)
      expect((await memory.cleanup({ dryRun: true })).deleted).toBe(1)
      expect((await memory.cleanup()).deleted).toBe(1)
    }),

    law(
      'A clean-up of one scope leaves the others, and without a scope it covers all.',
      async ({ memory, time }) => {
        for (const scope of memoryScopes) await memory.write(scope, 'gone', 1, { ttl: 1000 })
        time.advance(1000)
        expect((await memory.cleanup({ scope: 'working' })).deleted).toBe(1)
        expect((await memory.cleanup({ dryRun: true })).deleted).toBe(3)
        expect((await memory.cleanup()).deleted).toBe(3)
      },
    ),

    law(
      'An access that is recorded late sets back neither the expiry nor the last access.',
      async ({ memory, reopen, time }) => {
        const start = time.clock()
        const slow = await reopen({ clock: () => start })
        const recordedLate = async (): Promise<void> => {
          expect(await slow.search('long-term', { text: 'blue' })).toHaveLength(1)
          expect(await slow.read('long-term', 'key')).toBe('blue')
        }
        await memory.write('long-term', 'key', 'blue', { ttl: 1000 })
        time.advance(800)
        await memory.read('long-term', 'key')
        await recordedLate()
        const [found] = await memory.search('long-term', {}, { touch: false })
        expect(found?.metadata).toMatchObject({
          accessedAt: start + 800,
          accessCount: 3,
          expiresAt: start + 1800,
        })
        time.advance(999)
        expect(await keysFound(memory, 'long-term', { text: 'blue' })).toEqual(['key'])
        await memory.write('long-term', 'key', 'blue', { ttl: 500 })
        await recordedLate()
        time.advance(499)
        expect(await keysFound(memory, 'long-term', { text: 'blue' })).toEqual(['key'])
        expect(await memory.exists('long-term', 'key')).toBe(true)
      },
    ),
  ],
}
