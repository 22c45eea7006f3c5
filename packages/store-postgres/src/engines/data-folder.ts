import fs, { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { createFolder, orAbsent, renamePatiently, syncFolder } from '@recall/core/process'
import { syncAllBelow } from './syncing-files.ts'

/** The mode of what only the user that runs the process may enter. */
export const onlyMe = 0o700

/** Where the data of the database in a folder is. */
export const dataIn = (folder: string): string => join(folder, 'data')

/** Whether there is a database; one whose making was cut short is none. */
export const holdsData = (data: string): boolean => existsSync(join(data, 'PG_VERSION'))

/**
 * Makes the data of a new database. Postgres believes in a folder long before everything is in it, so it is made
 * beside its place and moved there when all of it is on the disk. What a killed process leaves is no database, and is
 * the only thing that is ever deleted.
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
  // Windows moves nothing to where a folder is, even an empty one.
  orAbsent(() => rmdirSync(data))
  renamePatiently(unfinished, data)
  syncFolder(dirname(data), fs)
}

/** What has lost its version may be somebody's database all the same: one made over it would destroy the rest. */
function refuseRemains(data: string): void {
  if (!orAbsent(() => readdirSync(data))?.length) return
  throw new MemoryError(
    `${data} holds files, but no PG_VERSION, so it is no whole database: restore a backup, or move it away to begin anew`,
    MemoryErrorCode.CORRUPTION,
    { details: { path: data } },
  )
}
