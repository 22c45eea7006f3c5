import { join } from 'node:path'
import { replaceFile } from './atomic-write.ts'
import type { FileStore } from './file-store.ts'
import { type FileSystem, orAbsent } from './file-system.ts'
import { fromShown } from './paths.ts'
import { readText } from './read-text.ts'
import { sourcesOf } from './sources.ts'

export interface ScrubbedFile {
  path: string
  /** Secrets by kind. */
  counts: Record<string, number>
}

/**
 * Looks for secrets in everything that is stored already, and with `apply` replaces them. No copy of the old
 * text is kept.
 */
export function scrubFiles(
  fileSystem: FileSystem,
  store: Pick<FileStore, 'root' | 'layout' | 'index' | 'exclusively'>,
  redact: (text: string) => { text: string; counts: Record<string, number> },
  apply: boolean,
): ScrubbedFile[] {
  const { root, layout } = store
  const found: ScrubbedFile[] = []
  for (const source of sourcesOf(fileSystem, root, layout)) {
    const folder = fromShown(root, source.path)
    for (const name of (orAbsent(() => fileSystem.readdirSync(folder)) ?? []).filter((each) =>
      source.accepts(each),
    )) {
      const path = source.path === '' ? name : `${source.path}/${name}`
      const scan = (write: boolean): void => {
        const file = readText(fileSystem, join(folder, name))
        const { text, counts } = file ? redact(file.content) : { text: '', counts: {} }
        if (Object.keys(counts).length === 0) return
        if (!write) {
          found.push({ path, counts })
          return
        }
        store.index.changing(path)
        replaceFile(fileSystem, join(folder, name), text)
        store.index.changed(path)
      }
      const before = found.length
      scan(false)
      // Read again under the lock: somebody may have written in between.
      if (apply && found.length > before) store.exclusively(() => scan(true))
    }
  }
  return found
}
