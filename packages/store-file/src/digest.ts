/** Loading `node:crypto` takes a tenth of a short command's time, and looking something up does not need it. */
const crypto = (): typeof import('node:crypto') => process.getBuiltinModule('node:crypto')

export const sha256 = (text: string): string => crypto().createHash('sha256').update(text).digest('hex')

/** Eight bytes that tell whether a file's content is what was indexed. */
export const contentHash = (bytes: Uint8Array): Uint8Array =>
  crypto().hash('sha1', bytes, 'buffer').subarray(0, 8)

/** Sixteen bytes in hexadecimal that stand for a text. */
export const textHash = (text: string): string => sha256(text).slice(0, 32)

let own: string | undefined
let taken = 0

/** A name part that no other process chooses, and this one not twice. */
export function randomName(): string {
  own ??= crypto().randomBytes(6).toString('hex')
  return `${own}${(taken++).toString(16)}`
}
