import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
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

/** @throws when they are damaged */
export function readReceipts(state: string): MemoryReceipt[] {
  if (!existsSync(nameIn(state))) return []
  const receipts: unknown = JSON.parse(readFileSync(nameIn(state), 'utf8'))
  if (!Array.isArray(receipts) || !receipts.every(isReceipt)) throw new Error('these are no receipts')
  return receipts
}

function isReceipt(value: unknown): value is MemoryReceipt {
  const { root, files, folders } = Object(value) as Record<string, unknown>
  return (
    typeof root === 'string' &&
    Array.isArray(files) &&
    files.every((file) => typeof file?.path === 'string' && typeof file.digest === 'string') &&
    Array.isArray(folders) &&
    folders.every((folder) => typeof folder === 'string')
  )
}

/** The roots of memories that were wired into hosts. */
function wiredRoots(io: Pick<Io, 'home'>): string[] {
  try {
    return readReceipts(stateFolder(io)).map(({ root }) => root)
  } catch {
    // Receipts are for `init` and `uninit`, which say that they are damaged: all else goes on without.
    return []
  }
}

/** The root of the memory that was wired into hosts; `undefined` unless there is just one. */
export function wiredRoot(io: Pick<Io, 'home'>): string | undefined {
  const [root, ...others] = wiredRoots(io).filter((each) => existsSync(each))
  return others.length === 0 ? root : undefined
}

/**
 * Makes sure that a root which was wired into hosts still holds a memory: where a disk is not mounted, its mount point
 * is an empty folder.
 *
 * @throws MemoryError UNAVAILABLE when it does not
 */
export function requireWired(io: Pick<Io, 'home'>, root: string): void {
  if (existsSync(join(root, 'memory')) || !wiredRoots(io).includes(root)) return
  throw new MemoryError(
    `the memory that was wired into agents is not in ${root} any more: check that its disk is mounted, or run 'recall init' for a new one`,
    MemoryErrorCode.UNAVAILABLE,
    { details: { path: root } },
  )
}
