import { MemoryError, MemoryErrorCode } from '@recall/core'
import { type FileStamp, isUnchanged } from './file-stamp.ts'
import type { FileSystem } from './file-system.ts'
import { readText } from './read-text.ts'
import type { FileChange } from './transaction.ts'

/** Files as they will be after a set of changes: what was read, and what will be written. */
export interface Workspace {
  /** The content after the changes so far; empty when there is no such file. */
  read(path: string): string
  exists(path: string): boolean
  /** `null` removes the file. */
  write(path: string, content: string | null): void
  changes(): FileChange[]
  /** @throws MemoryError CONFLICT when somebody has changed a file since it was read */
  assertUnchanged(): void
}

export function createWorkspace(fileSystem: FileSystem): Workspace {
  const seen = new Map<string, { content: string | null; stamp: FileStamp | null }>()
  const written = new Map<string, string | null>()

  const load = (path: string): string | null => {
    const planned = written.get(path)
    if (planned !== undefined) return planned
    const known = seen.get(path)
    if (known) return known.content
    const file = readText(fileSystem, path)
    seen.set(path, { content: file?.content ?? null, stamp: file?.stamp ?? null })
    return file?.content ?? null
  }

  return {
    read: (path) => load(path) ?? '',
    exists: (path) => load(path) !== null,
    write(path, content) {
      load(path)
      written.set(path, content)
    },

    changes: () =>
      [...written]
        .map(([path, content]) => ({ path, content, before: seen.get(path)?.content ?? null }))
        .filter(({ content, before }) => content !== null || before !== null),

    assertUnchanged() {
      for (const [path, { stamp }] of seen) {
        if (isUnchanged(fileSystem, path, stamp)) continue
        throw new MemoryError(
          `${path} was changed by somebody else while it was being written`,
          MemoryErrorCode.CONFLICT,
          {
            details: { path },
          },
        )
      }
    },
  }
}
