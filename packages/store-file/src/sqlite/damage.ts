import { basename, dirname, join } from 'node:path'
import { orAbsent, writing } from '@recall/core/process'
import { type FileSystem, namesIn } from '../files/file-system.ts'
import { type Database, valuesOf } from './driver.ts'
import { isDamage } from './errors.ts'

export function passesCheck(database: Database): boolean {
  try {
    const [first] = valuesOf(database, 'SELECT quick_check AS value FROM pragma_quick_check LIMIT 1')
    return first === 'ok'
  } catch (error) {
    if (isDamage(error)) return false
    throw error
  }
}

/** Errors of the language itself: a nonsensical row causes them, as does a mistake of ours. */
const ofLanguage = [TypeError, RangeError, SyntaxError]

/**
 * Whether a call failed because the database is damaged. SQLite notices only the damage it stumbles on: a changed byte
 * may give a row that lacks a value.
 *
 * @param isIntact checks the database
 */
export const comesOfDamage = (error: unknown, isIntact: () => boolean): boolean =>
  isDamage(error) || (ofLanguage.some((kind) => error instanceof kind) && !isIntact())

/** Renames a damaged database, replacing one that was set aside before. Returns its new path. */
export function setAside(fileSystem: FileSystem, path: string): string {
  const kept = `${path}${aside}${Date.now()}`
  removeSetAside(fileSystem, path)
  writing(path, () => {
    // Another process may have set it aside before.
    orAbsent(() => fileSystem.renameSync(path, kept))
    for (const suffix of ['-wal', '-shm']) orAbsent(() => fileSystem.unlinkSync(`${path}${suffix}`))
  })
  return kept
}

/** Removes a damaged database that was set aside: it still holds words that may have to be forgotten. */
export function removeSetAside(fileSystem: FileSystem, path: string): void {
  const folder = dirname(path)
  for (const name of namesIn(fileSystem, folder) ?? []) {
    if (!name.startsWith(`${basename(path)}${aside}`)) continue
    const copy = join(folder, name)
    writing(copy, () => orAbsent(() => fileSystem.unlinkSync(copy)))
  }
}

/** Infix in the name of a database that was set aside; a time in milliseconds follows. */
const aside = '.corrupt-'
