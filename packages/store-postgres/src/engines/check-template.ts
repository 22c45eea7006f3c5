import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

const unzip = promisify(gunzip)

const blockBytes = 512

/**
 * Checks the headers of a dump, a tar archive that may be zipped. When PGlite cannot unpack one, nothing can catch its
 * error, which ends the process.
 *
 * @throws Error when it is not such an archive, or is damaged
 */
export async function checkTemplate(template: Blob): Promise<void> {
  const given = Buffer.from(await template.arrayBuffer())
  const archive = given[0] === 0x1f && given[1] === 0x8b ? await unzip(given) : given
  if (archive.toString('latin1', 257, 262) !== 'ustar') throw new Error('it is not a tar archive')
  // Blocks of zeros follow the last file.
  for (let at = 0; at + blockBytes <= archive.length && archive[at] !== 0; ) {
    const header = archive.subarray(at, at + blockBytes)
    if (octal(header, 148, 156) !== checksum(header)) throw new Error(`its header at byte ${at} is damaged`)
    at += blockBytes + Math.ceil(octal(header, 124, 136) / blockBytes) * blockBytes
  }
}

const octal = (header: Buffer, from: number, to: number): number =>
  Number.parseInt(header.toString('latin1', from, to), 8)

/** The sum of all bytes, with blanks in place of the sum itself. */
function checksum(header: Buffer): number {
  const plus = (sum: number, byte: number): number => sum + byte
  return header.subarray(0, 148).reduce(plus, 8 * 0x20) + header.subarray(156).reduce(plus, 0)
}
