import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { orAbsent } from '@recall/core/process'
import { layouts } from '@recall/store-file'

const { entity, user } = layouts

/** Each of them is in no folder `memory` but that of a memory. */
const signs = [entity.curated, entity.internal, entity.archives, entity.window, entity.archiveIndex]

/** Folders of notes; others than a memory may have a `working`. */
const noteFolders = ['short-term', 'long-term', 'episodic'].map((scope) => `${entity.memory}/${scope}`)

/** Whether a folder that nobody named holds a memory: a folder `memory`, or `memories`, may be anybody's. */
export function isKnownMemory(folder: string): boolean {
  const has = (path: string): boolean => mayBeThere(join(folder, path))
  if (has(entity.memory) && signs.some(has)) return true
  if (has(user.window) && [user.archiveIndex, user.archives].some(has)) return true
  return noteFolders.some((path) => holdsNotes(join(folder, path)))
}

/** What may not be looked at is not taken for missing: another memory would be used in its place. */
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

/** Whether a file stands where a folder would have to be. */
const isInNoFolder = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOTDIR'
