import { basename, dirname, join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import type { FileStore } from './file-store.ts'
import { defaultFileSystem, type FileSystem } from './file-system.ts'
import { readText } from './read-text.ts'
import { applyChanges } from './transaction.ts'

/** MEMORY.md and its topic files as whole texts, for tools that move text between them. */
export function curatedFiles(store: FileStore, fileSystem: FileSystem = defaultFileSystem) {
  const { root, layout } = store
  const folder = join(root, dirname(layout.curated))

  return {
    /** The text of MEMORY.md, or `null` when there is none. */
    read: (): string | null => readText(fileSystem, join(root, layout.curated))?.content ?? null,

    /** Names of the topic files beside it. */
    topics: (): string[] =>
      fileSystem
        .readdirSync(folder)
        .filter((name) => name.endsWith('.md') && name !== basename(layout.curated)),

    /**
     * Writes several of these files at once, all or none.
     *
     * @param expected the text of MEMORY.md that the change was made for
     * @throws MemoryError CONFLICT when MEMORY.md reads differently by now, or a new topic file exists already
     */
    replace(expected: string, change: (current: string) => Record<string, string>): void {
      store.exclusively(() => {
        const current = readText(fileSystem, join(root, layout.curated))?.content ?? ''
        const files = Object.entries(change(current))
        const clash = files.find(
          ([name]) => name !== basename(layout.curated) && fileSystem.existsSync(join(folder, name)),
        )
        if (current !== expected || clash) {
          const what = clash ? `${clash[0]} exists already` : `${layout.curated} was changed in the meantime`
          throw new MemoryError(`${what}: nothing was written; try again`, MemoryErrorCode.CONFLICT)
        }
        const shown = files.map(([name]) => `${dirname(layout.curated)}/${name}`)
        for (const path of shown) store.index.changing(path)
        applyChanges(
          fileSystem,
          root,
          join(root, layout.internal),
          files.map(([name, content]) => ({ path: join(folder, name), content })),
        )
        for (const path of shown) store.index.changed(path)
      })
    },
  }
}
