import { statSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import type { Layout } from '@recall/store-file'

/**
 * Checks that no folder stands where a memory has a file, and the other way round: nothing could be kept there.
 *
 * @throws MemoryError CONFLICT naming the first that does
 */
export function requireRightKinds(root: string, layout: Layout): void {
  for (const path of ['', layout.memory, layout.archives]) {
    if (statOf(join(root, path))?.isDirectory() === false) throw misplaced(join(root, path), 'file', 'folder')
  }
  for (const path of [layout.curated, layout.window, layout.archiveIndex]) {
    if (statOf(join(root, path))?.isDirectory()) throw misplaced(join(root, path), 'folder', 'file')
  }
}

const misplaced = (path: string, is: string, belongs: string): MemoryError =>
  new MemoryError(
    `${path} is a ${is}, and a memory has a ${belongs} there: move it away, then run 'recall init'`,
    MemoryErrorCode.CONFLICT,
    { details: { path } },
  )

function statOf(path: string) {
  try {
    return statSync(path)
  } catch {
    // What is missing is created, and what cannot be looked at is told by whoever reads it.
    return undefined
  }
}
