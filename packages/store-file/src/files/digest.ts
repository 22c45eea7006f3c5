/** Loaded lazily: loading takes a tenth of a short command's time, and a search does not need it. */
const crypto = (): typeof import('node:crypto') => process.getBuiltinModule('node:crypto')

export const sha256 = (text: string): string => crypto().createHash('sha256').update(text).digest('hex')

/** Eight bytes that identify a file's content, to see whether it is what was indexed. */
export const contentHash = (bytes: Uint8Array): Uint8Array =>
  crypto().hash('sha1', bytes, 'buffer').subarray(0, 8)

/** Sixteen bytes in hexadecimal that identify a text. */
export const textHash = (text: string): string => sha256(text).slice(0, 32)

let own: string | undefined
let taken = 0

/** A part of a name that no other process chooses, and that this process never repeats. */
export function randomName(): string {
  own ??= crypto().randomBytes(6).toString('hex')
  return `${own}${(taken++).toString(16)}`
}
