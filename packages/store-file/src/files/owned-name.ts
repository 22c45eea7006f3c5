import { isGone, thisProcess } from '@recall/core/process'
import { randomName } from './digest.ts'

const owned = /^(\d+)-(\d+)-([0-9a-f]{8})[0-9a-f]+$/

/** A name that says which process a file belongs to, as long as that lives; each call gives another one. */
export function ownedName(): string {
  const { pid, started, place } = thisProcess()
  return `${pid}-${started}-${place}${randomName()}`
}

/**
 * Whether a file of such a name was left behind; `undefined` for other names.
 *
 * @param lastWritten when it was last written, in milliseconds
 */
export function isAbandoned(name: string, lastWritten: () => number): boolean | undefined {
  const [, pid, started, place = ''] = owned.exec(name) ?? []
  return pid === undefined
    ? undefined
    : isGone({ pid: Number(pid), started: Number(started), place }, lastWritten)
}
