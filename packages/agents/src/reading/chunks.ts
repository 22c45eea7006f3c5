import type { FileHandle } from 'node:fs/promises'
import { MemoryError, MemoryErrorCode } from '@recall/core'

/** How a frame of Zstandard begins. */
const zstandard = Buffer.from('28b52ffd', 'hex')

/**
 * How many bytes are decompressed at once: a block of a few bytes can stand for 128 kB, and all output of one call is
 * in memory together.
 */
const compressedBytes = 2048

/** Byte offsets in a file; without `end`, all that follows. */
interface FilePart {
  start: number
  end?: number | undefined
}

/**
 * The bytes of a file, decompressed if they are Zstandard, as Codex keeps old sessions. A chunk is valid until the next
 * one is requested.
 *
 * @param size how many bytes are read at once
 * @param part only these bytes, as they are
 * @throws MemoryError CORRUPTION for a compressed file that is damaged or incomplete
 */
export async function* chunksOf(
  file: FileHandle,
  path: string,
  size: number,
  part?: FilePart,
): AsyncGenerator<Buffer, void> {
  if (part !== undefined) {
    yield* bytesOf(file, size, part)
    return
  }
  const beginning = Buffer.alloc(zstandard.length)
  await file.read(beginning, 0, beginning.length, 0)
  if (beginning.equals(zstandard)) yield* decompressed(bytesOf(file, compressedBytes), path)
  else yield* bytesOf(file, size)
}

async function* bytesOf(
  file: FileHandle,
  size: number,
  { start, end = Number.POSITIVE_INFINITY }: FilePart = { start: 0 },
): AsyncGenerator<Buffer, void> {
  const chunk = Buffer.allocUnsafe(size)
  for (let at = start; at < end; ) {
    const { bytesRead } = await file.read(chunk, 0, Math.min(size, end - at), at)
    if (bytesRead === 0) return
    yield chunk.subarray(0, bytesRead)
    at += bytesRead
  }
}

async function* decompressed(compressed: AsyncIterable<Buffer>, path: string): AsyncGenerator<Buffer, void> {
  const { Decompress } = await import('fzstd')
  const plain: Buffer[] = []
  const frames = new Decompress(({ buffer, byteOffset, length }) => {
    plain.push(Buffer.from(buffer, byteOffset, length))
  })
  const push = (bytes: Buffer, isLast: boolean): Buffer[] => {
    try {
      // The decompressor keeps its input until a block is complete.
      frames.push(Uint8Array.from(bytes), isLast)
    } catch (cause) {
      throw new MemoryError(
        `${path} is compressed and damaged: ${(cause as Error).message}`,
        MemoryErrorCode.CORRUPTION,
        { cause, details: { path } },
      )
    }
    return plain.splice(0)
  }
  for await (const bytes of compressed) yield* push(bytes, false)
  yield* push(Buffer.alloc(0), true)
}
