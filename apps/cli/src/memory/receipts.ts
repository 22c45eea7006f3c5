import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Io } from '../terminal/io.ts'

/** What `init` created of a memory for hosts. */
export interface MemoryReceipt {
  root: string
  files: { path: string; digest: string }[]
  folders: string[]
}

/** Where the receipts and backups of installations are kept. */
export const stateFolder = (io: Pick<Io, 'home'>): string => join(io.home, '.recall', 'hosts')

export const nameIn = (state: string): string => join(state, 'memory.json')

export const readReceipts = (state: string): MemoryReceipt[] =>
  existsSync(nameIn(state)) ? (JSON.parse(readFileSync(nameIn(state), 'utf8')) as MemoryReceipt[]) : []

/** The root of the memory that was wired into hosts; `undefined` unless there is just one. */
export function wiredRoot(io: Pick<Io, 'home'>): string | undefined {
  try {
    const roots = readReceipts(stateFolder(io)).map(({ root }) => root)
    const [root, ...others] = roots.filter((each) => existsSync(each))
    return others.length === 0 ? root : undefined
  } catch {
    // Receipts are for `uninit`, which says what is wrong with them: all else goes on without.
    return undefined
  }
}
