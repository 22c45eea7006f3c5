import { basename, dirname, join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { mergeIn } from './documents/merge.ts'
import type { FileStore } from './file-store.ts'
import { defaultFileSystem, type FileSystem } from './files/file-system.ts'
import { readText } from './files/read-text.ts'
import { applyChanges } from './files/transaction.ts'
import { createWorkspace } from './files/workspace.ts'

/** MEMORY.md and its topic files as whole texts, for tools that move text between them. */
export function curatedFiles(store: FileStore, fileSystem: FileSystem = defaultFileSystem) {
  const { root, layout } = store
  const folder = join(root, dirname(layout.curated))

  return {
    /** The text of MEMORY.md, or `null` when there is none. */
    read: (): string | null => readText(fileSystem, join(root, layout.curated))?.content ?? null,

    /** Names of the files in its folder, which a new topic file cannot have. */
    takenNames: (): string[] =>
      fileSystem
        .readdirSync(folder)
        .filter((name) => name.endsWith('.md') && name !== basename(layout.curated)),

    /**
     * Writes several of these files at once, all or none.
     *
     * @param expected the text of MEMORY.md that the change was made for
     * @throws MemoryError CONFLICT when MEMORY.md has changed since then or holds what is left of a merge, or when a new
     * topic file exists already
     */
    replace(expected: string, change: (current: string) => Record<string, string>): void {
      store.exclusively(() => {
        const workspace = createWorkspace(fileSystem)
        const current = workspace.read(join(root, layout.curated))
        const merge = mergeIn(current)
        if (merge) throw unfinishedMerge(`${layout.curated} holds ${merge}`)
        const files = Object.entries(change(current)).map(([name, content]) => ({
          name,
          content,
          path: join(folder, name),
        }))
        const clash = files.find(
          ({ name, path }) => name !== basename(layout.curated) && workspace.exists(path),
        )
        if (current !== expected || clash) {
          const what = clash
            ? `${clash.name} exists already`
            : `${layout.curated} was changed in the meantime`
          throw new MemoryError(`${what}: nothing was written; try again`, MemoryErrorCode.CONFLICT)
        }
        for (const { path, content } of files) workspace.write(path, content)
        const changes = workspace.changes().map((each) => ({ ...each, source: join(root, layout.curated) }))
        store.index.whileChanging(
          files.map(({ name }) => `${dirname(layout.curated)}/${name}`),
          () =>
            applyChanges(fileSystem, root, join(root, layout.internal), changes, workspace.assertUnchanged),
        )
      })
    },
  }
}

/**
 * Otherwise the lines that separate the sides would end up in different files, where nobody could tell the sides apart.
 */
const unfinishedMerge = (problem: string): MemoryError =>
  new MemoryError(
    `${problem}: choose what stays, and remove the lines <<<<<<<, ======= and >>>>>>>; nothing was written`,
    MemoryErrorCode.CONFLICT,
  )
