import { basename } from 'node:path'
import { layouts } from '@recall/store-file'

/**
 * Whether a file in a memory's internal folder can be rebuilt or belongs to running processes: the index, locks and
 * their companions, and writers' notes for the index and of what they erase. Tombstones, the import journal and pending
 * sessions are not derived.
 *
 * @param path relative to that folder
 */
export const isDerived = (path: string): boolean =>
  /^(?:\.gitignore$|index\.(?:db|seal)|lock|archiving\.lock|access\.db-shm$|(?:writers|erasing)(?:[\\/]|$))/.test(
    path,
  )

/**
 * Whether a backup leaves a file out: derived files, and unfinished ones.
 *
 * @param path relative to the root
 */
export function isLeftOut(path: string): boolean {
  const own = `${layouts.entity.internal}/`
  if (basename(path).startsWith('.tmp-')) return true
  return path.startsWith(own) && (isDerived(path.slice(own.length)) || path === `${own}journal.json`)
}
