import { isMemoryError, MemoryErrorCode } from '@recall/core'
import { replaceFile } from './atomic-write.ts'
import type { FileSystem } from './file-system.ts'
import { createWorkspace } from './workspace.ts'

const attempts = 5

/**
 * Replaces a text by what `make` returns for it; calls `make` again when a person saves the file at the same moment.
 * Call it under the lock.
 *
 * @param make gets `null` where there is no file, and returns `null` to leave everything as it is
 */
export function rewriteFile(
  fileSystem: FileSystem,
  path: string,
  make: (content: string | null) => string | null,
): void {
  for (let attempt = 1; ; attempt++) {
    const workspace = createWorkspace(fileSystem)
    const content = make(workspace.exists(path) ? workspace.read(path) : null)
    if (content === null) return
    try {
      replaceFile(fileSystem, path, content, { verify: workspace.assertUnchanged })
      return
    } catch (error) {
      if (!isMemoryError(error, MemoryErrorCode.CONFLICT) || attempt === attempts) throw error
    }
  }
}
