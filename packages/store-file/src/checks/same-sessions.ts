import { conversationKey } from '@recall/core'
import type { FileStore } from '../file-store.ts'
import { removeFile } from '../files/atomic-write.ts'
import type { FileSystem } from '../files/file-system.ts'
import { fromShown } from '../files/paths.ts'
import { readText } from '../files/read-text.ts'
import { type ArchiveHead, archiveHeads } from './archive-heads.ts'
import { orUnreadable, type Report } from './report.ts'

/** Reports sessions that two machines both archived, and removes an archive that says the same as the other. */
export function checkSameSessions(fileSystem: FileSystem, store: FileStore, report: Report): void {
  const textOf = ({ path }: ArchiveHead): string | undefined =>
    orUnreadable(() => readText(fileSystem, fromShown(store.root, path)))
      ?.content.replaceAll('\r\n', '\n')
      .replace(/^---\nlog: \d+\n/, '')
  const isSame = ({ first, second }: Pair): boolean => {
    const text = textOf(first)
    return text !== undefined && text === textOf(second)
  }
  const twice = archivedTwice(archiveHeads(fileSystem, store)).map((each) => ({
    ...each,
    isSame: isSame(each),
  }))
  const problemsOf = (found: readonly Pair[]): string[] =>
    found.map(({ first, second }) => `${second.path} holds the session that ${first.path} holds`)
  report(
    'sessions archived twice',
    problemsOf(twice.filter(({ isSame }) => !isSame)),
    'none that differ',
    'compare the two, and delete the one that holds less',
  )
  const same = twice.filter(({ isSame }) => isSame)
  report(
    'equal archives',
    problemsOf(same),
    'none',
    "run 'recall doctor --fix' to remove the second of two that are the same",
    () =>
      store.exclusively(() => {
        // An archive that grew since the check is not removed.
        for (const { second } of same.filter(isSame))
          removeFile(fileSystem, fromShown(store.root, second.path))
      }),
  )
}

interface Pair {
  first: ArchiveHead
  second: ArchiveHead
}

/** Each archive of a session, or of a part of it, that an earlier archive holds too. */
function archivedTwice(heads: readonly ArchiveHead[]): Pair[] {
  const firsts = new Map<string, ArchiveHead>()
  return heads.flatMap((head) => {
    if (head.session === undefined) return []
    const key = conversationKey(head.session, head.part)
    const first = firsts.get(key)
    firsts.set(key, first ?? head)
    return first ? [{ first, second: head }] : []
  })
}
