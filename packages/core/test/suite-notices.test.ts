import { expect, it } from 'vitest'
import { runLaw } from '../src/conformance/describe-memory.ts'
import { themes } from '../src/conformance/themes.ts'
import { createMemoryManager } from '../src/front/create-memory-manager.ts'
import type { ColdStore, MemoryStore } from '../src/memory-store.ts'
import { createInMemoryStore } from '../src/stores/in-memory-store.ts'

/** Mistakes that a store could make, each with the theme that must notice it. */
const mistakes: [string, string, (store: MemoryStore) => Partial<MemoryStore>][] = [
  ['drops writes', 'Round trip', () => ({ put: async () => {} })],
  ['hands out what it holds', 'Round trip', () => sharing()],
  [
    'folds the case of keys',
    'Keys',
    (store) => ({
      put: (entry, options) => store.put({ ...entry, key: entry.key.toLowerCase() }, options),
      get: (address, now) => store.get({ ...address, key: address.key.toLowerCase() }, now),
    }),
  ],
  [
    'ignores the scope',
    'Scopes and namespaces',
    (store) => ({
      find: (query) => store.find({ ...query, scope: 'long-term' }),
    }),
  ],
  [
    'ignores the namespace',
    'Scopes and namespaces',
    (store) => ({
      put: (entry, options) => store.put({ ...entry, namespace: 'x' }, options),
      get: (address, now) => store.get({ ...address, namespace: 'x' }, now),
    }),
  ],
  ['counts no accesses', 'Metadata', () => ({ touch: async () => {} })],
  [
    'finds nothing by text',
    'Search by text',
    (store) => ({
      find: async (query) => (query.text === undefined ? store.find(query) : []),
    }),
  ],
  [
    'ignores filters',
    'Search by filters',
    (store) => ({ find: ({ filter: _, ...query }) => store.find(query) }),
  ],
  ['ignores tags', 'Search by filters', (store) => ({ find: ({ tags: _, ...query }) => store.find(query) })],
  [
    'ignores the offset',
    'Order and paging',
    (store) => ({ find: (query) => store.find({ ...query, offset: 0 }) }),
  ],
  [
    'ranks the worst first',
    'Search quality',
    (store) => ({
      find: (query) => store.find({ ...query, sortOrder: query.sortOrder === 'asc' ? 'desc' : 'asc' }),
    }),
  ],
  [
    'clears too much',
    'Deletion',
    (store) => ({
      removeAll: ({ namespace, scope }) => store.removeAll({ namespace, scope }),
    }),
  ],
  ['shows what has expired', 'Expiry', (store) => ({ get: (address) => store.get(address, 0) })],
  [
    'deletes in a dry run',
    'Expiry',
    (store) => ({ sweep: (selection) => store.sweep({ ...selection, dryRun: false }) }),
  ],
  [
    'applies half a batch',
    'Batches and atomic updates',
    (store) => ({
      async commit(changes) {
        for (const change of changes) {
          if ('put' in change) await store.put(change.put, change.options)
          else await store.remove(change.remove)
        }
      },
    }),
  ],
  [
    'checks first and writes later',
    'Concurrency',
    (store) => ({
      async put(entry, options) {
        const existing = await store.get(entry, options.now)
        await Promise.resolve()
        if (existing && !options.overwrite) return store.put(entry, options)
        await store.put(entry, { ...options, overwrite: true })
      },
    }),
  ],
  [
    'ignores what a change expects',
    'Batches and atomic updates',
    (store) => ({
      commit: (changes) => store.commit(changes.map(({ expected: _, ...change }) => change)),
    }),
  ],
  [
    'counts no bytes',
    'Quotas and eviction',
    (store) => ({ stats: async (place) => ({ ...(await store.stats(place)), bytes: 0 }) }),
  ],
  [
    'archives without keeping',
    'The archive',
    (store) =>
      ofCold(store, (cold) => ({
        async archive(selection) {
          const run = await cold.archive(selection)
          await cold.removeAll(selection)
          return run
        },
      })),
  ],
  [
    'archives what was written meanwhile',
    'The archive',
    (store) =>
      ofCold(store, (cold) => ({
        async archive({ dryRun, ...selection }) {
          const { before, now, namespace, scope } = selection
          const list = { limit: 100, offset: 0, sortBy: 'recency', sortOrder: 'asc', minScore: 0 } as const
          const found = dryRun ? [] : await store.find({ namespace, scope, now, ...list })
          const old = found.filter(({ entry }) => entry.updatedAt < before)
          for (const { entry } of old) await cold.put(entry, { overwrite: true, now })
          for (const { entry } of old) await store.remove(entry)
          return dryRun ? cold.archive({ dryRun, ...selection }) : { archived: old.length, errors: [] }
        },
      })),
  ],
  [
    'lets everybody into the archive',
    'The archive',
    (store) =>
      ofCold(store, (cold) => ({
        removeAll: ({ scope }) => cold.removeAll({ namespace: 'default', scope }),
      })),
  ],
  [
    'forgets that a value is sealed',
    'Encryption',
    (store) => ({ put: (entry, options) => store.put({ ...entry, encrypted: false }, options) }),
  ],
  [
    'forgets the times of what is overwritten',
    'Any course of calls',
    (store) => ({
      async put(entry, options) {
        if (options.overwrite) await store.remove(entry)
        await store.put(entry, options)
      },
    }),
  ],
  [
    'expires what was read all the same',
    'Any course of calls',
    (store) => ({ put: (entry, options) => store.put({ ...entry, ttl: null }, options) }),
  ],
  ['says that it is durable', 'Durability', () => ({ capabilities: { durable: true, semantic: true } })],
  ['says that it keeps no vectors', 'none', () => ({ capabilities: { durable: false, semantic: false } })],
]

it.each(mistakes)('a store that %s breaks a law of: %s', async (_, title, mistake) => {
  const broken = new Set<string>()
  for (const theme of themes) {
    if (theme.title !== title && title !== 'none') continue
    for (const law of theme.laws) {
      let store: MemoryStore
      const open = async (): Promise<void> => {
        const sound = createInMemoryStore()
        store = { ...sound, ...mistake(sound) }
      }
      const harness = {
        open: async (options: object) => {
          await open()
          return createMemoryManager({ stores: store, ...options })
        },
        reopen: async (options: object) => createMemoryManager({ stores: store, ...options }),
      }
      await runLaw(law, harness).catch(() => broken.add(theme.title))
    }
  }
  expect([...broken]).toEqual(title === 'none' ? [] : [title])
})

/** A store with a mistake in its archive. */
const ofCold = (
  { cold }: MemoryStore,
  mistake: (cold: ColdStore) => Partial<ColdStore>,
): Partial<MemoryStore> => (cold ? { cold: { ...cold, ...mistake(cold) } } : {})

/** A store that keeps and returns the very objects it is given. */
function sharing(): Partial<MemoryStore> {
  const entries = new Map<string, Parameters<MemoryStore['put']>[0]>()
  return {
    put: async (entry) => void entries.set(entry.key, entry),
    get: async ({ key }) => entries.get(key) ?? null,
    find: async () =>
      [...entries.values()].map((entry) => ({ entry, score: 1, mode: 'filter', signals: {} })),
  }
}
