/**
 * A short fingerprint to tell whether a text has changed (the mixing of cyrb53). Collisions can be made on purpose. It
 * needs no module: loading the one for digests would take longer than a search may.
 */
export function fingerprint(text: string): string {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    high = Math.imul(high ^ unit, 2654435761)
    low = Math.imul(low ^ unit, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  const hex = (part: number): string => (part >>> 0).toString(16).padStart(8, '0')
  return `${text.length.toString(16)}-${hex(high)}${hex(low)}`
}
