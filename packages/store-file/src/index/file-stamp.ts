/** What `lstat` says of a file; two equal stamps mean that nothing was written in between. */
export interface FileStamp {
  size: number
  /** Modification time in milliseconds, with fractions. */
  modified: number
  /** Change time: also moves when the modification time is put back. */
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
  inode: ino,
})

export const sameStamp = (a: FileStamp, b: FileStamp): boolean =>
  a.size === b.size && a.modified === b.modified && a.changed === b.changed && a.inode === b.inode

const words = new Uint32Array(8)
const floats = new Float64Array(words.buffer)

/** Sums of mixed stamps are kept below this, so that they stay exact. */
export const stampModulus = 2 ** 50

/**
 * A number below 2^42 for a stamp. The sum over a folder's files (modulo `stampModulus`) tells whether any of
 * them changed without looking each one up; it is kept up to date by adding and subtracting.
 */
export function mixStamp({ size, modified, changed, inode }: FileStamp): number {
  floats[0] = size
  floats[1] = modified
  floats[2] = changed
  floats[3] = inode
  let high = 0x9e3779b9
  let low = 0x85ebca6b
  for (let i = 0; i < 8; i++) {
    const word = words[i] as number
    high = Math.imul(high ^ word, 0xcc9e2d51)
    high ^= high >>> 15
    low = Math.imul(low ^ word, 0x1b873593)
    low ^= low >>> 13
  }
  return (high >>> 0) * 1024 + ((low >>> 0) & 1023)
}
