import { type FileSystem, statusOf } from './file-system.ts'

/** A file as `lstat` describes it; two equal stamps mean that nothing was written in between. */
export interface FileStamp {
  size: number
  /** Modification time in milliseconds, with fractions. */
  modified: number
  /** Change time: it moves even when the modification time is set back. */
  changed: number
  inode: number
}

interface FileStats {
  size: number
  mtimeMs: number
  ctimeMs: number
  ino: number
}

export const stampOf = ({ size, mtimeMs, ctimeMs, ino }: FileStats): FileStamp => ({
  size,
  modified: mtimeMs,
  changed: ctimeMs,
  // NTFS and some network file systems number files beyond 2^53, and SQLite's drivers return no such integer.
  inode: ino % 2 ** 53,
})

/** `null` for an absent file; links, pipes and folders get a stamp, and the reader reports what is wrong with them. */
export function stampAt(fileSystem: FileSystem, path: string): FileStamp | null {
  const stats = statusOf(fileSystem, path)
  return stats && stampOf(stats)
}

/** Modification time of a file or folder in milliseconds; 0 when there is none. */
export const modifiedAt = (fileSystem: FileSystem, path: string): number =>
  statusOf(fileSystem, path)?.mtimeMs ?? 0

export const sameStamp = (a: FileStamp, b: FileStamp): boolean =>
  a.size === b.size && a.modified === b.modified && a.changed === b.changed && a.inode === b.inode

/**
 * FAT counts change times in steps of this length. Some network disks, ext3 and HFS+ count in whole seconds, all others
 * so finely that no two changes share a time.
 */
export const coarsestStepMs = 2000

/** Whether a future change may get the same times as the last one. */
const mayRecur = (times: readonly number[], now: number): boolean =>
  times.every((time) => time % 1000 === 0) && now - Math.max(...times) < coarsestStepMs

/** A change time that no file has, so that the file is read again at every check. */
export const neverRead = -1

/**
 * The stamp to store for a file: one that equals no other if the file may change without changing its stamp.
 *
 * @param now before the file was looked at: later changes may show only in its time
 */
export const lastingStamp = (stamp: FileStamp, now: number): FileStamp =>
  mayRecur([stamp.modified, stamp.changed], now) ? { ...stamp, changed: neverRead } : stamp

/**
 * The modification time to store for a folder: negated, so that it equals no other, if more changes may fall on that
 * time.
 *
 * @param now before the folder was looked at
 */
export const lastingTime = (modified: number, now: number): number =>
  mayRecur([modified], now) ? -modified : modified

/** Whether a file is unchanged; `null` means absent. */
export function isUnchanged(fileSystem: FileSystem, path: string, before: FileStamp | null): boolean {
  const now = stampAt(fileSystem, path)
  return before && now ? sameStamp(before, now) : before === now
}

const floats = new Float64Array(5)
const words = new Uint32Array(floats.buffer)

/** Sums of mixed files are kept below this, so that they stay exact. */
export const stampModulus = 2 ** 50

/**
 * A number below 2^42 for a file. The sum over a folder's files (modulo `stampModulus`) tells whether any of them
 * changed without looking each one up; it is updated by adding and subtracting. The name counts: on some disks a
 * renamed file keeps all its times.
 */
export function mixFile(name: string, { size, modified, changed, inode }: FileStamp): number {
  floats[0] = size
  floats[1] = modified
  floats[2] = changed
  floats[3] = inode
  let letters = 0
  for (let i = 0; i < name.length; i++) letters = Math.imul(letters ^ name.charCodeAt(i), 0x01000193) >>> 0
  floats[4] = letters
  let high = 0x9e3779b9
  let low = 0x85ebca6b
  for (let i = 0; i < 10; i++) {
    const word = words[i] as number
    high = Math.imul(high ^ word, 0xcc9e2d51)
    high ^= high >>> 15
    low = Math.imul(low ^ word, 0x1b873593)
    low ^= low >>> 13
  }
  return (high >>> 0) * 1024 + ((low >>> 0) & 1023)
}

/**
 * The files of a folder, by name and stamp. Uses typed arrays and joined names, page by page: as objects and short
 * strings, 100,000 files take five times the memory.
 */
export function createStampList() {
  const pages: Float64Array[] = []
  const joinedNames: string[] = []
  let lastNames: string[] = []
  let count = 0
  let sum = 0

  const names = (): string[] => [...joinedNames.flatMap((page) => page.split('/')), ...lastNames]

  const stampIn = (place: number): FileStamp => {
    const page = pages[Math.floor(place / filesPerPage)] as Float64Array
    const at = (place % filesPerPage) * numbersPerStamp
    return {
      size: page[at] as number,
      modified: page[at + 1] as number,
      changed: page[at + 2] as number,
      inode: page[at + 3] as number,
    }
  }

  const startPage = (): void => {
    pages.push(new Float64Array(filesPerPage * numbersPerStamp))
    if (lastNames.length > 0) joinedNames.push(lastNames.join('/'))
    lastNames = []
  }

  return {
    add(name: string, stamp: FileStamp): void {
      if (count % filesPerPage === 0) startPage()
      const page = pages.at(-1) as Float64Array
      const at = lastNames.length * numbersPerStamp
      page[at] = stamp.size
      page[at + 1] = stamp.modified
      page[at + 2] = stamp.changed
      page[at + 3] = stamp.inode
      lastNames.push(name)
      count++
      sum = (sum + mixFile(name, stamp)) % stampModulus
    },

    count: (): number => count,

    /** Sum of the mixed files, to compare with the sum that the index has for the folder. */
    sum: (): number => sum,

    /**
     * The files that differ from what was known: changed, new, or gone, with their current stamp.
     *
     * @param known read once, row by row: a map of its objects takes as much memory as everything else in a query
     */
    differences(known: Iterable<FileStamp & { name: string }>): Map<string, FileStamp | null> {
      const listed = names()
      const places = new Map<string, number>()
      for (const [place, name] of listed.entries()) places.set(name, place)
      const states = new Uint8Array(count)
      const found = new Map<string, FileStamp | null>()
      for (const row of known) {
        const place = places.get(row.name)
        if (place === undefined) found.set(row.name, null)
        else if (!sameStamp(stampIn(place), row)) states[place] = differs
        else if (states[place] !== differs) states[place] = isSame
      }
      for (const [place, name] of listed.entries())
        if (states[place] !== isSame) found.set(name, stampIn(place))
      return found
    },
  }
}

const isSame = 1
const differs = 2

const filesPerPage = 1024
const numbersPerStamp = 4
