import { join } from 'node:path'
import { syncFolder } from '@recall/core/process'
import { keysOfArchive } from '../documents/conversation.ts'
import type { FileStore } from '../file-store.ts'
import type { FileSystem } from '../files/file-system.ts'
import { fromShown } from '../files/paths.ts'
import { archiveName, copyOfArchive } from '../layout/layout.ts'
import { defaultNamespace } from '../layout/sources.ts'
import { readTombstones } from '../tombstones.ts'
import { type ArchiveHead, archiveHeads, nextArchivePath } from './archive-heads.ts'
import type { Report } from './report.ts'

/**
 * Reports archives that need a number of their own: those of two machines that share a number, and copies that a file
 * syncer renamed. An archive that is identified only by its name is left for a person to rename, and one of a forgotten
 * session to delete.
 */
export function checkArchiveNumbers(fileSystem: FileSystem, store: FileStore, report: Report): void {
  const { root, layout } = store
  const copies = archiveHeads(fileSystem, store, copyOfArchive)
  const isHere = ({ folder }: ArchiveHead): boolean => folder === layout.archives
  const found = [...doubled(fileSystem, store), ...copies].filter(isHere)
  const problemOf = ({ name, path, number }: ArchiveHead): string =>
    copyOfArchive.test(name)
      ? `${path} is not read: it is another copy of archive ${number}`
      : `number ${number} is used twice`
  const isForgotten = forgottenArchives(fileSystem, store)
  const forgotten = found.filter(isForgotten)
  const movable = found.filter((each) => each.session !== undefined && !isForgotten(each))
  const stuck = found.filter(({ session }) => session === undefined)
  const next = nextArchivePath(fileSystem, store)
  if (forgotten.length > 0)
    report(
      'archive numbers',
      forgotten.map(({ path }) => `${path} holds a session that was forgotten`),
      '',
      'forgotten: delete it',
    )
  if (stuck.length > 0)
    report('archive numbers', stuck.map(problemOf), '', `rename it, for example to ${next}`)
  if (movable.length === 0 && stuck.length + forgotten.length > 0) return
  report(
    'archive numbers',
    movable.map(problemOf),
    'each used once',
    "run 'recall doctor --fix' to give each archive a number of its own",
    () =>
      store.exclusively(() => {
        for (const each of movable) {
          // Somebody may have had it forgotten since the check.
          if (isForgotten(each)) continue
          fileSystem.renameSync(fromShown(root, each.path), join(root, nextArchivePath(fileSystem, store)))
        }
        syncFolder(join(root, layout.archives), fileSystem)
      }),
  )
}

/** @returns a test for archives that a person had forgotten, which stays current */
function forgottenArchives(fileSystem: FileSystem, store: FileStore): (head: ArchiveHead) => boolean {
  const isMarked = readTombstones(fileSystem, store)
  return ({ session, part }) =>
    session !== undefined &&
    keysOfArchive(session, part).some((key) =>
      isMarked({ scope: 'episodic', namespace: defaultNamespace, key }),
    )
}

/** All archives that share a number, except the first one: the one that is named as new archives are. */
function doubled(fileSystem: FileSystem, store: FileStore): ArchiveHead[] {
  const isNamedAsNew = ({ name, number }: ArchiveHead): boolean => name === archiveName(store.layout, number)
  const seen = new Set<number>()
  return archiveHeads(fileSystem, store)
    .filter(({ folder }) => folder === store.layout.archives)
    .sort((a, b) => Number(isNamedAsNew(b)) - Number(isNamedAsNew(a)))
    .filter(({ number }) => seen.size === seen.add(number).size)
}
