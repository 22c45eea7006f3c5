import type { ColdStore } from '@recall/core'
import type { ColdFilesOptions } from './cold-files.ts'
import type { CurrentFiles } from './moves.ts'

/** Archived entries as compressed files, one each. Loaded on first use: most processes never use it. */
export function createColdStore(options: ColdFilesOptions, current: CurrentFiles): ColdStore {
  const open = async () => {
    const [{ createColdFiles }, { createMoves }] = await Promise.all([
      import('./cold-files.ts'),
      import('./moves.ts'),
    ])
    const files = createColdFiles(options)
    return { ...files, ...createMoves(current, files, options.access) }
  }
  let opened: ReturnType<typeof open> | undefined
  const load = async (): ReturnType<typeof open> => {
    options.access.assertPresent()
    opened ??= open()
    return opened
  }
  return {
    name: 'compressed files',
    archive: async (selection) => (await load()).archive(selection),
    restore: async (address, now) => (await load()).restore(address, now),
    put: async (entry, putOptions) => (await load()).put(entry, putOptions),
    get: async (address, now) => (await load()).get(address, now),
    find: async (query) => (await load()).find(query),
    commit: async (changes) => (await load()).commit(changes),
    remove: async (address) => (await load()).remove(address),
    removeAll: async (selection) => (await load()).removeAll(selection),
    sweep: async (selection) => (await load()).sweep(selection),
    close: async () => {},
  }
}
