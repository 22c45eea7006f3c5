import { join, posix } from 'node:path'
import { withPointers } from '../documents/window.ts'
import type { FileStore } from '../file-store.ts'
import type { FileSystem } from '../files/file-system.ts'
import { folderOf, fromShown } from '../files/paths.ts'
import { readText } from '../files/read-text.ts'
import { rewriteFile } from '../files/rewrite-file.ts'
import { archiveHeads } from './archive-heads.ts'
import type { Report } from './report.ts'

/**
 * Reports sessions of the window whose named file is gone or holds another session, while some archive holds theirs: it
 * was renumbered or moved.
 */
export function checkWindowPointers(fileSystem: FileSystem, store: FileStore, report: Report): void {
  const { root, layout } = store
  const heads = archiveHeads(fileSystem, store)
  const below = folderOf(layout.window)
  const isGone = (pointer: string): boolean =>
    pointer.endsWith('.md') && !fileSystem.existsSync(fromShown(root, posix.join(below, pointer)))
  const rightPointer = (sessionId: string, pointer: string): string => {
    const named = heads.find(({ path }) => path === posix.join(below, pointer))
    const right = heads.find(({ session, part }) => session === sessionId && part === 1)
    const holdsAnother = named?.session !== undefined && named.session !== sessionId
    return right && (holdsAnother || isGone(pointer)) ? posix.relative(below, right.path) : pointer
  }
  const path = join(root, layout.window)
  const problems: string[] = []
  withPointers(readText(fileSystem, path)?.content ?? '', (sessionId, pointer) => {
    const right = rightPointer(sessionId, pointer)
    const holder = posix.join(below, right)
    if (right !== pointer)
      problems.push(`${layout.window} names ${pointer} for the session that ${holder} holds`)
    return right
  })
  report(
    'window',
    problems,
    'names the archive of each session',
    "run 'recall doctor --fix' to name the right ones",
    () =>
      store.exclusively(() =>
        rewriteFile(fileSystem, path, (now) => (now === null ? null : withPointers(now, rightPointer))),
      ),
  )
}
