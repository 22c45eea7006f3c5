import { lstatSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import type { Layout } from '@recall/store-file'

/**
 * Checks that there is no folder where a memory has a file, no file where it has a folder, and no link that a store
 * does not follow: nothing could be kept there.
 *
 * @throws MemoryError CONFLICT naming the first of these
 */
export function requireRightKinds(root: string, layout: Layout): void {
  for (const path of ['', layout.memory, layout.archives]) {
    if (statOf(join(root, path))?.isDirectory() === false) throw misplaced(join(root, path), 'file', 'folder')
  }
  for (const path of [layout.memory, layout.archives].map((each) => join(root, each))) {
    if (leadsOut(root, path)) throw linked(path, 'folder')
  }
  for (const path of [layout.curated, layout.window, layout.archiveIndex]) {
    if (isLink(join(root, path))) throw linked(join(root, path), 'file')
    if (statOf(join(root, path))?.isDirectory()) throw misplaced(join(root, path), 'folder', 'file')
  }
}

const misplaced = (path: string, is: string, belongs: string): MemoryError =>
  new MemoryError(
    `${path} is a ${is}, and a memory has a ${belongs} there: move it away, then run 'recall init'`,
    MemoryErrorCode.CONFLICT,
    { details: { path } },
  )

const linked = (path: string, belongs: string): MemoryError =>
  new MemoryError(
    `${path} is a link to ${readlinkSync(path)}, which a memory does not follow: put the ${belongs} itself there`,
    MemoryErrorCode.CONFLICT,
    { details: { path } },
  )

const isLink = (path: string): boolean => statOf(path, lstatSync)?.isSymbolicLink() === true

/** Whether a folder is a link to nowhere, or out of the root. */
function leadsOut(root: string, path: string): boolean {
  if (!isLink(path)) return false
  try {
    return !realpathSync(path).startsWith(realpathSync(root) + sep)
  } catch {
    return true
  }
}

function statOf(path: string, look: (path: string) => Stats = statSync) {
  try {
    return look(path)
  } catch {
    // A missing path is created, and an inaccessible one is reported when it is read.
    return undefined
  }
}
