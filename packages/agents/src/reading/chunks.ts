import type { FileHandle } from 'node:fs/promises'
import { MemoryError, MemoryErrorCode } from '@recall/core'

/** How a frame of Zstandard begins. */
const zstandard = Buffer.from('28b52ffd', 'hex')

/**
 * How many bytes are decompressed at once: a block of a few bytes can stand for 128 kB, and all output of one call is
 * in memory together.
 */
const compressedBytes = 2048

/**
 * The bytes of a file, decompressed if they are Zstandard, as Codex keeps old sessions. A chunk is valid until the next
 * one is requested.
 *
 * @param size how many bytes are read at once
 * @throws MemoryError CORRUPTION for a compressed file that is damaged or incomplete
 */
export async function* chunksOf(file: FileHandle, path: string, size: number): AsyncGenerator<Buffer, void> {
  const beginning = Buffer.alloc(zstandard.length)
  await file.read(beginning, 0, beginning.length, 0)
  if (beginning.equals(zstandard)) yield* decompressed(bytesOf(file, compressedBytes), path)
  else yield* bytesOf(file, size)
}

async function* bytesOf(file: FileHandle, size: number): AsyncGenerator<Buffer, void> {
  const chunk = Buffer.allocUnsafe(size)
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, size, null)
    if (bytesRead === 0) return
    yield chunk.subarray(0, bytesRead)
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
