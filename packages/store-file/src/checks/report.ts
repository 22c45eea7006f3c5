import type { FileStore } from '../file-store.ts'
import type { FileSystem } from '../files/file-system.ts'

/** Takes the result of one check: its problems, or what to say when there are none, and the remedy. */
export type Report = (
  check: string,
  problems: string[],
  fine: string,
  remedy: string,
  mend?: () => void,
) => void

export type Check = (fileSystem: FileSystem, store: FileStore, report: Report) => void

/** A path relative to the root; the folder is empty for the root itself. */
export const within = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)

export const counted = (n: number, noun: string, plural = `${noun}s`): string =>
  `${n} ${n === 1 ? noun : plural}`

/** Files that cannot be read are reported by another check. */
export function orUnreadable<T>(call: () => T): T | null {
  try {
    return call()
  } catch {
    return null
  }
}
