import { openFile, toMemoryError } from './open-file.ts'

/** One element of a JSON list, unparsed. */
export interface JsonItem {
  /** Counted from 1. */
  number: number
  /** Byte offset in the file. */
  start: number
  /** In bytes. */
  length: number
  /** `null` when the item is longer than the cap. */
  bytes: Buffer | null
  /** False for a last item that is cut off by the end of the file. */
  ended: boolean
}

export interface ReadItemsOptions {
  /** Longest item kept, in bytes. */
  maxItemBytes: number
  /** Bytes read at once. Default 256 kB. */
  chunkBytes?: number
}

const byteOrderMark = [0xef, 0xbb, 0xbf]
const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d
const isSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)

/**
 * The elements of a file that is one JSON list, of any size, with at most one element and one chunk in memory. Elements
 * are not parsed, so one may be invalid JSON. A file that is not a list yields none.
 *
 * @throws MemoryError as `openFile` does
 */
export async function* readJsonItems(
  path: string,
  options: ReadItemsOptions,
): AsyncGenerator<JsonItem, void> {
  const { maxItemBytes, chunkBytes = 256 * 1024 } = options
  const file = await openFile(path)
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes)
    let offset = 0
    let number = 0
    let inList = false
    let depth = 0
    let inString = false
    let escaped = false
    /** Where the current item begins in the file; -1 between items. */
    let start = -1
    let pieces: Buffer[] = []
    const keep = (piece: Buffer, length: number): void => {
      // The chunk is reused for the next read, so what outlives it must be a copy.
      if (length <= maxItemBytes) pieces.push(Buffer.from(piece))
      else pieces = []
    }
    const take = (end: number, ended: boolean): JsonItem => {
      const length = end - start
      const bytes = length <= maxItemBytes ? Buffer.concat(pieces) : null
      const item = { number: ++number, start, length, bytes, ended }
      start = -1
      pieces = []
      return item
    }
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunkBytes, null)
      if (bytesRead === 0) break
      for (let i = 0; i < bytesRead; i++) {
        const byte = chunk[i] as number
        if (inString) {
          if (escaped) escaped = false
          else if (byte === backslash) escaped = true
          else if (byte === quote) inString = false
          continue
        }
        if (!inList) {
          if (byte === openList) inList = true
          else if (!isSpace(byte) && byteOrderMark[offset + i] !== byte) return
          continue
        }
        if (depth === 0 && (byte === comma || byte === closeList)) {
          if (start !== -1) {
            keep(chunk.subarray(Math.max(0, start - offset), i), offset + i - start)
            yield take(offset + i, true)
          }
          if (byte === closeList) return
          continue
        }
        if (start === -1) {
          if (isSpace(byte)) continue
          start = offset + i
        }
        if (byte === quote) inString = true
        else if (byte === openObject || byte === openList) depth++
        else if (byte === closeObject || byte === closeList) depth--
      }
      offset += bytesRead
      if (start !== -1) {
        keep(chunk.subarray(Math.max(0, start - (offset - bytesRead)), bytesRead), offset - start)
      }
    }
    if (start !== -1) yield take(offset, false)
  } catch (error) {
    throw toMemoryError(path, error)
  } finally {
    await file.close()
  }
}
