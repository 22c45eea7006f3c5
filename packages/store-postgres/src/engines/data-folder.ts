import fs, { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { createFolder, orAbsent, renamePatiently, syncFolder } from '@recall/core/process'
import { syncAllBelow } from './syncing-files.ts'

/** The mode of folders that only the user who runs the process may enter. */
export const onlyMe = 0o700

/** The folder with the data of the database in `folder`. */
export const dataIn = (folder: string): string => join(folder, 'data')

/** Whether a finished database is there; one whose creation was interrupted does not count. */
export const holdsData = (data: string): boolean => existsSync(join(data, 'PG_VERSION'))

/**
 * Makes the data of a new database. Postgres accepts a folder long before it is complete, so the data is made next to
 * its place and moved there when all of it is on the disk. What a killed process leaves is not a database, and is the
 * only thing that is ever deleted.
 *
 * @param make makes the database in a new folder, and closes it
 * @throws MemoryError CORRUPTION when something else is in its place
 */
export async function makeData(data: string, make: (unfinished: string) => Promise<void>): Promise<void> {
  refuseRemains(data)
  const unfinished = `${data}-unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  createFolder(unfinished, onlyMe)
  await make(unfinished)
  syncAllBelow(unfinished)
  // Windows does not move anything onto a folder, even an empty one.
  orAbsent(() => rmdirSync(data))
  renamePatiently(unfinished, data)
  syncFolder(dirname(data), fs)
}

/** A folder without its version file may still be somebody's database: making one over it would destroy the rest. */
function refuseRemains(data: string): void {
  if (!orAbsent(() => readdirSync(data))?.length) return
  throw new MemoryError(
    `${data} holds files, but no PG_VERSION, so it is not a complete database: restore a backup, or move it away to start afresh`,
    MemoryErrorCode.CORRUPTION,
    { details: { path: data } },
  )
}
