import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { defaultFileSystem, layoutOf } from '@recall/store-file'
import type { RootOptions } from './find-root.ts'

/** Whether a named folder holds anything of a memory; for a folder that nobody named, `isKnownMemory` asks for more. */
export function holdsMemory(root: string, { layout }: RootOptions): boolean {
  if (existsSync(join(root, 'memory'))) return true
  const { memory, window, archives } = layoutOf(defaultFileSystem, root, layout)
  return [memory, window, archives].some((place) => existsSync(join(root, place)))
}

/**
 * A folder without a memory is not an empty memory, but probably the wrong folder. The store refuses a folder that does
 * not exist.
 *
 * @throws MemoryError UNAVAILABLE
 */
export function requireMemory(root: string, options: RootOptions): void {
  if (!existsSync(root) || holdsMemory(root, options)) return
  throw new MemoryError(
    `there is no memory in ${root}: name the folder of one with --root, or create it with 'recall init'`,
    MemoryErrorCode.UNAVAILABLE,
    { details: { path: root } },
  )
}
