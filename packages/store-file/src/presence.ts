import { join, sep } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { writing } from '@recall/core/process'
import { type FileSystem, statusOf } from './files/file-system.ts'
import { ensureBelow, missingRoot, onlyUser } from './files/folders.ts'
import { isInside } from './files/paths.ts'
import type { Layout } from './layout/layout.ts'

export interface Presence {
  /**
   * A missing file proves nothing while the whole memory is missing.
   *
   * @throws MemoryError UNAVAILABLE when the memory is away
   */
  assertPresent(): void
  /** Creates the memory's folder if it never existed: a folder that was moved away is not created again. */
  prepareMemory(): void
  /**
   * Creates a folder of the memory where it is missing.
   *
   * @throws MemoryError FORBIDDEN when a link leads it out of the root
   */
  prepareFolder(folder: string): void
}

/** Watches whether a memory is still where it was opened: its disk may be unmounted, and another be mounted there. */
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

  const prepareMemory = (): void => {
    assertPresent()
    if (device !== undefined) return
    writing(memory, () => ensureBelow(fileSystem, root, memory, onlyUser))
    device = memoryDevice()
  }

  const prepareFolder = (folder: string): void => {
    prepareMemory()
    if (isInside(fileSystem, root, folder)) return
    const isInMemory = folder.startsWith(`${memory}${sep}`)
    writing(folder, () =>
      isInMemory ? ensureBelow(fileSystem, memory, folder) : ensureBelow(fileSystem, root, folder, onlyUser),
    )
    // Only now, when it exists, can its real place be checked.
    isInside(fileSystem, root, folder)
  }

  return { assertPresent, prepareMemory, prepareFolder }
}

const otherDisk = (path: string): MemoryError =>
  new MemoryError(
    `${path} lies on another disk than when the memory was opened: mount that one in its place, or open the memory again`,
    MemoryErrorCode.UNAVAILABLE,
    { details: { path } },
  )
