/** Loaded lazily: it takes a tenth of a short command's time, and a search does not need it. */
const crypto = (): typeof import('node:crypto') => process.getBuiltinModule('node:crypto')

export const sha256 = (text: string): string => crypto().createHash('sha256').update(text).digest('hex')

/** Eight bytes that identify a file's content, to see whether it is what was indexed. */
export const contentHash = (bytes: Uint8Array): Uint8Array =>
  crypto().hash('sha1', bytes, 'buffer').subarray(0, 8)

/** Sixteen bytes in hexadecimal that stand for a text. */
export const textHash = (text: string): string => sha256(text).slice(0, 32)

/**
 * Tells whether a text was changed, by 64 bits in hexadecimal; no secret. A search reads whole notes, and the module of
 * real digests would take longer to load than all of them to sum up. FNV-1a in two lanes.
 */
export function checksum(text: string): string {
  let low = 0x811c9dc5
  let high = 0x9e3779b9
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    low = Math.imul(low ^ unit, 0x01000193)
    high = Math.imul(high ^ unit, 0x85ebca6b)
  }
  return [high, low].map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('')
}

let own: string | undefined
let taken = 0

/** A part of a name that no other process chooses, and this process never twice. */
export function randomName(): string {
  own ??= crypto().randomBytes(6).toString('hex')
  return `${own}${(taken++).toString(16)}`
}
