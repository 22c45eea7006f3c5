import { dirname } from 'node:path'
import { isMemoryError } from '@recall/core'
import { archivedFiles } from './cold/cold-folder.ts'
import type { FileStore } from './file-store.ts'
import { type FileSystem, namesIn } from './files/file-system.ts'
import { fromShown, isInside } from './files/paths.ts'
import { readText } from './files/read-text.ts'
import { rewriteFile } from './files/rewrite-file.ts'
import { sourcesOf } from './layout/sources.ts'
import { type Redact, scrubArchived } from './scrub-archive.ts'
import { redactDocument } from './scrub-document.ts'

export interface ScrubbedFile {
  path: string
  /** Secrets by kind. */
  counts: Record<string, number>
  /** Why the file could not be examined or changed. */
  problem?: string
}

/**
 * Looks for secrets in everything that is already stored, and with `apply` replaces them. No copy of the old text is
 * kept. Encrypted values stay as they are.
 */
export function scrubFiles(
  fileSystem: FileSystem,
  store: ScrubbableStore,
  redact: Redact,
  apply: boolean,
): ScrubbedFile[] {
  const found: ScrubbedFile[] = []
  let finish: (() => void) | undefined
  const scrubOne = (path: string, scan: () => ScrubbedFile['counts'], replace: () => void): void => {
    try {
      const counts = scan()
      if (Object.keys(counts).length === 0) return
      found.push({ path, counts })
      if (!apply) return
      finish ??= store.beginErasure()
      replace()
    } catch (error) {
      // One file that cannot be read must not keep the others from being cleaned.
      if (!isMemoryError(error)) throw error
      found.push({ path, counts: {}, problem: error.message })
    }
  }
  for (const path of storedFiles(fileSystem, store)) {
    scrubOne(
      path,
      () => scan(fileSystem, store, path, redact),
      () => replace(fileSystem, store, path, redact),
    )
  }
  for (const path of archivedFiles(fileSystem, store)) {
    scrubOne(
      path,
      () => scrubArchived(fileSystem, store, path, redact, false),
      () => scrubArchived(fileSystem, store, path, redact, true),
    )
  }
  finish?.()
  if (apply && store.hasTraces()) store.reindex({ full: true })
  return found
}

/** The part of a store needed to look through everything it keeps. */
export type ScrubbableStore = Pick<
  FileStore,
  'root' | 'layout' | 'index' | 'reindex' | 'exclusively' | 'beginErasure' | 'hasTraces'
>

function storedFiles(fileSystem: FileSystem, { root, layout }: ScrubbableStore): string[] {
  const files = sourcesOf(fileSystem, root, layout).flatMap((source) => {
    const names = namesIn(fileSystem, fromShown(root, source.path)) ?? []
    return names
      .filter((name) => source.accepts(name))
      .map((name) => (source.path === '' ? name : `${source.path}/${name}`))
  })
  return [...new Set([...files, layout.archiveIndex])]
}

function scan(
  fileSystem: FileSystem,
  { root }: ScrubbableStore,
  path: string,
  redact: Redact,
): ScrubbedFile['counts'] {
  if (!isInside(fileSystem, root, dirname(fromShown(root, path)))) return {}
  const file = readText(fileSystem, fromShown(root, path))
  return file ? redactDocument(file.content, redact).counts : {}
}

/** Reads again under the lock. */
function replace(
  fileSystem: FileSystem,
  { root, index, exclusively }: ScrubbableStore,
  path: string,
  redact: Redact,
): void {
  exclusively(() => {
    index.whileChanging([path], () => {
      rewriteFile(fileSystem, fromShown(root, path), (content) =>
        content === null ? null : redactDocument(content, redact).text,
      )
    })
  })
}
