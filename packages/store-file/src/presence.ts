import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { writing } from '@recall/core/process'
import { type FileSystem, statusOf } from './files/file-system.ts'
import { ensureWithin } from './files/folders.ts'
import { isInside } from './files/paths.ts'
import type { Layout } from './layout/layout.ts'
import { missingRoot } from './search-index/memory-index.ts'

export interface Presence {
  /**
   * A missing file proves nothing while the whole memory is missing.
   *
   * @throws MemoryError UNAVAILABLE when the memory is away
   */
  assertPresent(): void
  /**
   * Makes a folder where it is missing.
   *
   * @throws MemoryError FORBIDDEN when a link leads there out of the root
   */
  prepareFolder(folder: string): void
}

/** Watches whether a memory is still where it was opened: its disk may go, and another be mounted there. */
export function createPresence(fileSystem: FileSystem, root: string, layout: Layout): Presence {
  const memory = join(root, layout.memory)
  const memoryDevice = (): number | undefined => statusOf(fileSystem, memory)?.dev
  let device = memoryDevice()

  const assertPresent = (): void => {
    const now = memoryDevice()
    if (now !== device && device !== undefined)
      throw now === undefined ? missingRoot(memory) : otherDisk(memory)
    if (now === undefined && !fileSystem.existsSync(root)) throw missingRoot(root)
    device = now
  }

  const prepareFolder = (folder: string): void => {
    assertPresent()
    if (isInside(fileSystem, root, folder)) return
    writing(folder, () => ensureWithin(fileSystem, root, folder))
    // Only now can it be told where it is.
    isInside(fileSystem, root, folder)
    device = memoryDevice()
  }

  return { assertPresent, prepareFolder }
}

const otherDisk = (path: string): MemoryError =>
  new MemoryError(
    `${path} lies on another disk than when the memory was opened: mount that one in its place, or open the memory anew`,
    MemoryErrorCode.UNAVAILABLE,
    { details: { path } },
  )
