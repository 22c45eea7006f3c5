import { join } from 'node:path'
import { withBothSides } from '../documents/archive-index.ts'
import { isAsWritten } from '../documents/conversation.ts'
import { mergeIn, sidesOf } from '../documents/merge.ts'
import type { FileStore } from '../file-store.ts'
import { replaceFile } from '../files/atomic-write.ts'
import { type FileSystem, namesIn } from '../files/file-system.ts'
import { fromShown } from '../files/paths.ts'
import { readText } from '../files/read-text.ts'
import { createWorkspace } from '../files/workspace.ts'
import { archiveFoldersOf } from '../layout/layout.ts'
import { sourcesOf } from '../layout/sources.ts'
import { type ArchiveHead, archiveHeads, nextArchivePath } from './archive-heads.ts'
import { orUnreadable, type Report, within } from './report.ts'

/** Reports files in which version control left a merge to people, and splits a file that holds two archives. */
export function checkMerges(fileSystem: FileSystem, store: FileStore, report: Report): void {
  const { layout } = store
  const contentOf = contentIn(fileSystem, store)
  const archives = mergedArchives(fileSystem, store)
  const twoArchives = archives.filter(isSeparable(contentOf))
  // Rows are rebuilt with the table.
  const isForPeople = (path: string): boolean =>
    path !== layout.archiveIndex || withBothSides(contentOf(path)) === null
  const others = archives.filter((each) => !twoArchives.includes(each))
  report(
    'merges',
    [
      ...documentsOf(fileSystem, store)
        .filter(isForPeople)
        .flatMap((path) => {
          const merge = mergeIn(contentOf(path))
          return merge ? `${path} holds ${merge}` : []
        }),
      ...others.map(({ path }) => `${path} holds both sides of a merge`),
    ],
    'none unfinished',
    'choose what stays, and remove the lines <<<<<<<, ======= and >>>>>>>; each side of an archive becomes a file of its own',
  )
  report(
    'merged archives',
    twoArchives.map(({ path }) => `${path} holds two archives, the sides of a merge`),
    'none',
    "run 'recall doctor --fix' to give each a file of its own",
    () =>
      store.exclusively(() => {
        for (const { path } of twoArchives) separate(fileSystem, store, path)
      }),
  )
}

/** The archives that the doctor mends, because a merge left two of them in one file, by path below the root. */
export const archivesToSeparate = (fileSystem: FileSystem, store: FileStore): string[] =>
  mergedArchives(fileSystem, store)
    .filter(isSeparable(contentIn(fileSystem, store)))
    .map(({ path }) => path)

const mergedArchives = (fileSystem: FileSystem, store: FileStore): ArchiveHead[] =>
  archiveHeads(fileSystem, store).filter(({ isMerged }) => isMerged)

const isSeparable =
  (contentOf: (path: string) => string) =>
  ({ path }: ArchiveHead): boolean =>
    archivesIn(contentOf(path)) !== null

const contentIn =
  (fileSystem: FileSystem, { root }: FileStore) =>
  (path: string): string =>
    orUnreadable(() => readText(fileSystem, fromShown(root, path)))?.content ?? ''

/** All files but the archives, which may be many and long. */
function documentsOf(fileSystem: FileSystem, { root, layout }: FileStore): string[] {
  const sources = sourcesOf(fileSystem, root, layout).filter(
    ({ path }) => !archiveFoldersOf(layout).includes(path),
  )
  const files = sources.flatMap(({ path, accepts }) =>
    (namesIn(fileSystem, fromShown(root, path)) ?? []).filter(accepts).map((name) => within(path, name)),
  )
  return [layout.archiveIndex, ...files]
}

/** The two whole archives in one file, or `null`. Merge marks that an archive merely quotes fail the proof. */
function archivesIn(content: string): [mine: string, theirs: string] | null {
  const sides = sidesOf(content)
  return sides?.every(isAsWritten) ? sides : null
}

/** An interruption leaves one archive too many, and loses none. */
function separate(fileSystem: FileSystem, store: FileStore, path: string): void {
  const whole = fromShown(store.root, path)
  const workspace = createWorkspace(fileSystem)
  const sides = archivesIn(workspace.read(whole))
  if (!sides) return
  const [mine, theirs] = sides
  replaceFile(fileSystem, join(store.root, nextArchivePath(fileSystem, store)), theirs)
  replaceFile(fileSystem, whole, mine, { verify: workspace.assertUnchanged })
}
