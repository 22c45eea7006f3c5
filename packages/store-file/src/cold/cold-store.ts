import type { ColdStore } from '@recall/core'
import { specialPlace } from '../placement.ts'
import type { ColdFiles, ColdFilesOptions } from './cold-files.ts'

/** Archived entries as compressed files, one each. Loaded when it is first used: most processes never do. */
export function createColdStore(options: ColdFilesOptions): ColdStore {
  let files: ColdFiles | undefined
  const load = async (): Promise<ColdFiles> => {
    files ??= (await import('./cold-files.ts')).createColdFiles(options)
    return files
  }
  return {
    name: 'compressed files',
    // Conversations are archives by themselves: markdown that people read, numbered and listed in a table.
    accepts: (address) => specialPlace(address) === null,
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
