import { basename } from 'node:path'
import { isGone, thisProcess } from '@recall/core/process'
import { randomName } from './digest.ts'
import { type FileSystem, statusOf } from './file-system.ts'

const owned = /^(\d+)-(\d+)-([0-9a-f]{8})[0-9a-f]+$/

/** A name that says which process a file belongs to while that process lives; each call returns a new one. */
export function ownedName(): string {
  const { pid, started, place } = thisProcess()
  return `${pid}-${started}-${place}${randomName()}`
}

/** Whether a file with such a name was left behind; `undefined` for other names. */
export function isAbandoned(fileSystem: FileSystem, path: string): boolean | undefined {
  const [, pid, started, place = ''] = owned.exec(basename(path)) ?? []
  if (pid === undefined) return undefined
  const lastWritten = (): number => statusOf(fileSystem, path)?.mtimeMs ?? Date.now()
  return isGone({ pid: Number(pid), started: Number(started), place }, lastWritten)
}
