import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { orAbsent } from '@recall/core/process'
import { textHash } from '../files/digest.ts'
import { type FileSystem, statusOf } from '../files/file-system.ts'

export interface VectorSpace {
  model: string
  dimensions: number
}

/** Length of a text's hash. */
export const hashLength = 16

/** JSON, padded with blanks. */
export const headerLength = 256

/** The files of a folder that holds vectors: `rows` is scanned, and `exact` is read for the best of them. */
export const pathsIn = (folder: string) => ({
  rows: join(folder, 'vectors.i8'),
  exact: join(folder, 'vectors.f32'),
})

/** How many integers a row of `vectors.i8` holds, and its length in bytes. */
export function rowShape(dimensions: number): { width: number; stride: number } {
  // The scan reads sixteen integers at a time.
  const width = Math.ceil(dimensions / 16) * 16
  return { width, stride: hashLength + 4 + width }
}

/** The model whose vectors the files hold. */
export interface Header extends VectorSpace {
  /** New whenever the files are recreated. */
  generation: string
}

/** The beginning of `rows`, with a checksum, so that a damaged name is not taken for that of another model. */
interface SummedHeader extends Header {
  sum: string
}

const sumOf = ({ model, dimensions, generation }: Header): string =>
  textHash(JSON.stringify([model, dimensions, generation])).slice(0, 16)

/** @returns `null` where there are no rows, or their header cannot be read */
export function readHeader(fileSystem: FileSystem, path: string): Header | null {
  if ((statusOf(fileSystem, path)?.size ?? 0) < headerLength) return null
  const bytes = new Uint8Array(headerLength)
  if (orAbsent(() => readInto(fileSystem, path, bytes, 0)) === null) return null
  try {
    const { sum, ...header } = JSON.parse(Buffer.from(bytes).toString('utf8')) as SummedHeader
    const { model, dimensions, generation } = header
    const isWhole = typeof model === 'string' && dimensions > 0 && generation
    return isWhole && sum === sumOf(header) ? { model, dimensions, generation } : null
  } catch {
    // Derived: a file that cannot be read is recreated.
    return null
  }
}

/** @throws MemoryError INVALID_INPUT when the name of the model leaves no room */
export function headerBytes(header: Header): Buffer {
  const text = Buffer.from(JSON.stringify({ ...header, sum: sumOf(header) } satisfies SummedHeader))
  if (text.length >= headerLength) {
    const message = `the name of the embedding model is too long by ${text.length - headerLength + 1} bytes: '${header.model}'`
    throw new MemoryError(message, MemoryErrorCode.INVALID_INPUT)
  }
  return Buffer.concat([text, Buffer.alloc(headerLength - 1 - text.length, ' '), Buffer.from('\n')])
}

/** Identifies the vectors in a folder, whichever model made them; it changes when they are recreated. */
export const generationOf = (fileSystem: FileSystem, folder: string): string | null =>
  readHeader(fileSystem, pathsIn(folder).rows)?.generation ?? null

/** Whether a folder holds vector files, readable or not. */
export const hasVectorFile = (fileSystem: FileSystem, folder: string): boolean =>
  Object.values(pathsIn(folder)).some((path) => fileSystem.existsSync(path))

/** Deletes the vector files, whichever model made them. The caller holds the memory's lock. */
export function removeVectorFile(fileSystem: FileSystem, folder: string): void {
  const { rows, exact } = pathsIn(folder)
  for (const path of [rows, exact]) orAbsent(() => fileSystem.unlinkSync(path))
}

export function readInto(fileSystem: FileSystem, path: string, target: Uint8Array, position: number): void {
  const descriptor = fileSystem.openSync(path, 'r')
  try {
    readFully(fileSystem, descriptor, target, position)
  } finally {
    fileSystem.closeSync(descriptor)
  }
}

/** Reads until the buffer is full or the file ends. */
export function readFully(
  fileSystem: FileSystem,
  descriptor: number,
  target: Uint8Array,
  position: number,
): void {
  for (let read = 0; read < target.length; ) {
    const some = fileSystem.readSync(descriptor, target, read, target.length - read, position + read)
    if (some === 0) break
    read += some
  }
}
