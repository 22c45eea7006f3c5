import { isUtf8 } from 'node:buffer'
import { chunksOf } from './chunks.ts'
import { openFile, toMemoryError } from './open-file.ts'

export interface Line {
  /** Counted from 1. */
  number: number
  /** Byte offset at which it begins. */
  start: number
  /** Without its line ending and without a byte order mark; `null` when the line was longer than the cap. */
  text: string | null
  /** False for a last line without a line ending: it may be half-written. */
  ended: boolean
  /** Bytes that are not UTF-8 were replaced. */
  damaged: boolean
}

export interface ReadLinesOptions {
  /** Longest line kept, in bytes. Default 16 MB. */
  maxLineBytes?: number | undefined
  /** Bytes read at once. Default 256 kB. */
  chunkBytes?: number | undefined
  /** The most lines to read, whatever they hold. Default: all. */
  mostLines?: number | undefined
  /** Only what lies between these bytes, as it is: not decompressed. Default: all. */
  part?: { start: number; end?: number | undefined } | undefined
}

const defaultMaxLineBytes = 16 * 1024 * 1024
const newline = 0x0a
const carriageReturn = 0x0d

/**
 * The lines of a file of any size, compressed or not, with at most one line and one chunk in memory. LF and CRLF both
 * end a line. The file may grow while it is read: reading stops at the first end of file.
 *
 * @throws MemoryError as `openFile` and `chunksOf` do
 */
export async function* readLines(path: string, options: ReadLinesOptions = {}): AsyncGenerator<Line, void> {
  const {
    maxLineBytes = defaultMaxLineBytes,
    chunkBytes = 256 * 1024,
    mostLines = Number.POSITIVE_INFINITY,
    part,
  } = options
  const file = await openFile(path)
  try {
    const line = collectLine(maxLineBytes, part?.start)
    let number = 0
    for await (const chunk of chunksOf(file, path, chunkBytes, part)) {
      let start = 0
      for (;;) {
        const end = chunk.indexOf(newline, start)
        if (end === -1) break
        line.add(chunk.subarray(start, end))
        yield line.take(++number, true)
        if (number >= mostLines) return
        start = end + 1
      }
      line.add(chunk.subarray(start))
    }
    if (!line.isEmpty()) yield line.take(++number, false)
  } catch (error) {
    throw toMemoryError(path, error)
  } finally {
    await file.close()
  }
}

/** Collects one line from chunks. Beyond the cap it keeps only the length. */
function collectLine(maxLineBytes: number, firstStart = 0) {
  let pieces: Buffer[] = []
  let length = 0
  let next = firstStart

  return {
    isEmpty: (): boolean => length === 0,
    add(piece: Buffer): void {
      length += piece.length
      // The chunk is reused for the next read, so bytes that outlive it must be copied.
      if (length <= maxLineBytes) pieces.push(Buffer.from(piece))
      else pieces = []
    },
    take(number: number, ended: boolean): Line {
      const bytes = length > maxLineBytes ? null : Buffer.concat(pieces, length)
      const start = next
      next += length + 1
      pieces = []
      length = 0
      if (bytes === null) return { number, start, text: null, ended, damaged: false }
      const withoutReturn = bytes.at(-1) === carriageReturn ? bytes.subarray(0, -1) : bytes
      const text = withoutReturn.toString('utf8')
      return {
        number,
        start,
        text: number === 1 && text.startsWith('\uFEFF') ? text.slice(1) : text,
        ended,
        // A cut-off last line may end inside a character; that is a half-written line, not a damaged one.
        damaged: ended && !isUtf8(withoutReturn),
      }
    },
  }
}
