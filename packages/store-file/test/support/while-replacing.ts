import { basename } from 'node:path'
import { defaultFileSystem, type FileSystem } from '../../src/files/file-system.ts'

/** Something happens when the new text is ready to take the place of the first file that is replaced. */
export function whileReplacing(meanwhile: () => void): FileSystem {
  let isFirst = true
  return {
    ...defaultFileSystem,
    openSync(path, ...rest) {
      const descriptor = defaultFileSystem.openSync(path, ...rest)
      if (isFirst && basename(String(path)).startsWith('.tmp-')) {
        isFirst = false
        meanwhile()
      }
      return descriptor
    },
  }
}
