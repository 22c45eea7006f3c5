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
  { maxItemBytes, chunkBytes = 256 * 1024 }: ReadItemsOptions,
): AsyncGenerator<JsonItem, void> {
  const file = await openFile(path)
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes)
    const placeOf = createListScanner()
    let number = 0
    let item: PartOfItem | undefined
    for (let offset = 0; ; ) {
      const { bytesRead } = await file.read(chunk, 0, chunkBytes, null)
      if (bytesRead === 0) break
      /** Where in the chunk the item begins or continues. */
      let from = 0
      for (let i = 0; i < bytesRead; i++) {
        const place = placeOf(chunk[i] as number, offset + i)
        if (place === 'beyond') return
        if (place === 'begins') {
          item = { start: offset + i, length: 0, pieces: [] }
          from = i
        } else if (place === 'ended' && item) {
          add(item, chunk.subarray(from, i), maxItemBytes)
          yield toItem(item, ++number, maxItemBytes, true)
          item = undefined
        }
      }
      if (item) add(item, chunk.subarray(from, bytesRead), maxItemBytes)
      offset += bytesRead
    }
    if (item) yield toItem(item, ++number, maxItemBytes, false)
  } catch (error) {
    throw toMemoryError(path, error)
  } finally {
    await file.close()
  }
}

/** The part of an element that was read so far. */
interface PartOfItem {
  start: number
  length: number
  /** Empty when the element is longer than the cap. */
  pieces: Buffer[]
}

function add(item: PartOfItem, piece: Buffer, maxBytes: number): void {
  item.length += piece.length
  // The chunk is reused for the next read, so bytes that outlive it must be copied.
  if (item.length <= maxBytes) item.pieces.push(Buffer.from(piece))
  else item.pieces = []
}

const toItem = (
  { start, length, pieces }: PartOfItem,
  number: number,
  maxBytes: number,
  ended: boolean,
): JsonItem => ({
  number,
  start,
  length,
  bytes: length <= maxBytes ? Buffer.concat(pieces) : null,
  ended,
})

/**
 * The role of a byte in a file that should be a list: the first of an element, a later one in it, the one after it, one
 * between two, or one outside the list, after its end or because there is no list.
 */
type Place = 'begins' | 'inside' | 'ended' | 'between' | 'beyond'

/** Returns a function that tells the role of each byte of a file, in order. */
function createListScanner(): (byte: number, at: number) => Place {
  let list: 'ahead' | 'open' | 'closed' = 'ahead'
  let inItem = false
  let depth = 0
  const string = createStringScanner()

  const scanAhead = (byte: number, at: number): Place => {
    if (byte === openList) list = 'open'
    else if (!isSpace(byte) && byteOrderMark[at] !== byte) return 'beyond'
    return 'between'
  }

  const scanEnd = (byte: number): Place => {
    const place = inItem ? 'ended' : 'between'
    inItem = false
    if (byte === closeList) list = 'closed'
    return place
  }

  const scanItem = (byte: number): Place => {
    if (byte === quote) string.begin()
    else if (byte === openObject || byte === openList) depth++
    else if (byte === closeObject || byte === closeList) depth--
    const place = inItem ? 'inside' : 'begins'
    inItem = true
    return place
  }

  return (byte, at) => {
    if (string.takes(byte)) return 'inside'
    if (list === 'ahead') return scanAhead(byte, at)
    if (list === 'closed') return 'beyond'
    if (depth === 0 && (byte === comma || byte === closeList)) return scanEnd(byte)
    return !inItem && isSpace(byte) ? 'between' : scanItem(byte)
  }
}

/** Tracks which bytes are inside a JSON string. */
function createStringScanner() {
  let isOpen = false
  let isEscaped = false
  return {
    begin(): void {
      isOpen = true
    },
    /** Whether the next byte belongs to a string that has begun, including the quote that ends it. */
    takes(byte: number): boolean {
      if (!isOpen) return false
      if (isEscaped) isEscaped = false
      else if (byte === backslash) isEscaped = true
      else if (byte === quote) isOpen = false
      return true
    },
  }
}
