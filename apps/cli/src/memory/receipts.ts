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

export const receiptsPath = (state: string): string => join(state, 'memory.json')

/** @throws when they are damaged */
export function readReceipts(state: string): MemoryReceipt[] {
  if (!existsSync(receiptsPath(state))) return []
  const receipts: unknown = JSON.parse(readFileSync(receiptsPath(state), 'utf8'))
  if (!Array.isArray(receipts) || !receipts.every(isReceipt)) throw new Error('these are not receipts')
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
    // Receipts are for `init` and `uninit`, which report damage: everything else goes on without them.
    return []
  }
}

/**
 * The root of the memory that was wired into hosts; `undefined` unless there is exactly one. A root that is away counts
 * if there is no other: writing elsewhere meanwhile would leave two memories.
 */
export function wiredRoot(io: Pick<Io, 'home'>): string | undefined {
  const roots = wiredRoots(io)
  const present = roots.filter((each) => existsSync(each))
  const [root, ...others] = present.length > 0 ? present : roots
  return others.length === 0 ? root : undefined
}

/**
 * Whether a root that was wired into hosts no longer holds a memory: if a disk is not mounted, its mount point is an
 * empty folder.
 */
export const isAway = (io: Pick<Io, 'home'>, root: string): boolean =>
  !existsSync(join(root, 'memory')) && wiredRoots(io).includes(root)

export const remedyWhereAway = "check that its disk is mounted, or run 'recall init' for a new one"

/** @throws MemoryError UNAVAILABLE when a root that was wired into hosts is away */
export function requireWired(io: Pick<Io, 'home'>, root: string): void {
  if (!isAway(io, root)) return
  throw new MemoryError(
    `the memory that was wired into agents is not in ${root} any more: ${remedyWhereAway}`,
    MemoryErrorCode.UNAVAILABLE,
    { details: { path: root } },
  )
}
