import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { orAbsent } from '@recall/core/process'
import { layouts } from '@recall/store-file'

const { entity, user } = layouts

/** Only a memory's folder `memory` contains these. */
const signs = [entity.curated, entity.internal, entity.archives, entity.window, entity.archiveIndex]

/** Folders of notes; `working` is missing, because folders other than memories may have one. */
const noteFolders = ['short-term', 'long-term', 'episodic'].map((scope) => `${entity.memory}/${scope}`)

/** Whether a folder that nobody named holds a memory: a folder `memory`, or `memories`, may be anybody's. */
export function isKnownMemory(folder: string): boolean {
  const has = (path: string): boolean => mayBeThere(join(folder, path))
  if (has(entity.memory) && signs.some(has)) return true
  return isUserMemory(folder) || noteFolders.some((path) => holdsNotes(join(folder, path)))
}

/** Whether a folder that nobody named holds a memory in the user layout. */
export const isUserMemory = (folder: string): boolean =>
  [user.window, user.archiveIndex, user.archives].filter((path) => mayBeThere(join(folder, path))).length >= 2

/** A path that may not be looked at does not count as missing: another memory would be used instead. */
function mayBeThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return !isInNoFolder(error)
  }
}

function holdsNotes(folder: string): boolean {
  try {
    return orAbsent(() => readdirSync(folder))?.some((name) => name.endsWith('.md')) ?? false
  } catch (error) {
    return !isInNoFolder(error)
  }
}

/** Whether a file stands where a folder should be. */
const isInNoFolder = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOTDIR'
