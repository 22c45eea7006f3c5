import { readFileSync, truncateSync, writeFileSync } from 'node:fs'

/** Damages a file in one of five ways, and says in which. */
export function damage(path: string, random: () => number): string {
  const bytes = readFileSync(path)
  const at = Math.floor(random() * bytes.length)
  const kind = Math.floor(random() * 5)
  if (kind === 0) truncateSync(path, at)
  else {
    if (kind === 1) bytes[at] = (bytes[at] as number) ^ (1 << Math.floor(random() * 8))
    if (kind === 2)
      for (let i = 0; i < 32; i++) bytes[(at + i * 97) % bytes.length] = Math.floor(random() * 256)
    // Its pages may be cut off: it may be damaged a second time.
    const page = at - (at % 4096)
    if (kind === 3) bytes.fill(0, page, Math.min(bytes.length, page + 4096))
    if (kind === 4) bytes.copy(bytes, page, Math.min(bytes.length, 4096), 8192)
    writeFileSync(path, bytes)
  }
  return ['truncated', 'bit flipped', 'bytes scattered', 'page zeroed', 'page copied'][kind] as string
}
