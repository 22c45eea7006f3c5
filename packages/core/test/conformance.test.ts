import { expect } from 'vitest'
import { describeMemory, type HandleOptions, type Harness } from '../src/conformance/index.ts'
import type { MemoryCache } from '../src/front/cached-read.ts'
import { createMemoryManager } from '../src/front/create-memory-manager.ts'
import type { MemoryManager } from '../src/memory-manager.ts'
import type { MemoryStore } from '../src/memory-store.ts'
import { createMemoryCache } from '../src/protocol/memory-cache.ts'
import { memoryScopes } from '../src/scope.ts'
import { createInMemoryStore } from '../src/stores/in-memory-store.ts'

describeMemory('in-memory', inMemory())
describeMemory('in-memory, cached', inMemory(createMemoryCache))
describeMemory('scoped view', scopedView())

function inMemory(createCache?: () => MemoryCache): Harness {
  let store: MemoryStore
  const view = (options: HandleOptions): MemoryManager =>
    createMemoryManager({ stores: store, ...options, ...(createCache ? { cache: createCache() } : {}) })
  return {
    async open(options) {
      store = createInMemoryStore()
      return view(options)
    },
    async reopen(options) {
      return view(options)
    },
  }
}

/** The store also serves a neighbour, who holds the keys that laws use and must not notice any of them. */
function scopedView(): Harness {
  const neighbourly = ['key', 'a', 'b', 'fact', 'door', 'goal', 'gone', 'taken', 'once']
  let store: MemoryStore
  let neighbour: MemoryManager
  const view = (options: HandleOptions): MemoryManager =>
    createMemoryManager({ stores: forgettingOnly(options.namespace ?? 'default', store), ...options })

  return {
    async open(options) {
      store = createInMemoryStore()
      neighbour = createMemoryManager({ stores: store, namespace: 'neighbour', clock: () => 0 })
      for (const scope of memoryScopes) {
        for (const key of neighbourly) {
          await neighbour.write(scope, key, `blue door of the neighbour`, {
            tags: ['t', 'a', 'b'],
            type: 'note',
          })
        }
      }
      return view(options)
    },
    async reopen(options) {
      return view(options)
    },
    async between() {
      expect(await neighbour.exists('long-term', 'key')).toBe(true)
    },
    async dispose() {
      for (const scope of memoryScopes) {
        const entries = await neighbour.search(scope, {}, { limit: 1000, touch: false })
        expect(entries.map(({ key }) => key).sort()).toEqual([...neighbourly].sort())
        for (const { value, metadata } of entries) {
          expect(value).toBe('blue door of the neighbour')
          expect(metadata).toMatchObject({ accessCount: 0, updatedAt: 0, accessedAt: 0 })
        }
      }
      await neighbour.close()
    },
  }
}

/** Closing a view must not close the store that it shares: it forgets its own entries, as a store of its own would. */
function forgettingOnly(namespace: string, store: MemoryStore): MemoryStore {
  return {
    ...store,
    async close() {
      for (const scope of memoryScopes) {
        await store.removeAll({ namespace, scope })
        await store.cold?.removeAll({ namespace, scope })
      }
    },
  }
}
