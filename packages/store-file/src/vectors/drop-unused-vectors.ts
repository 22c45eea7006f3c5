import { syncFolder, writing } from '@recall/core/process'
import { orDiscard, writeTemporary } from '../files/atomic-write.ts'
import { randomName } from '../files/digest.ts'
import { type FileSystem, statusOf } from '../files/file-system.ts'
import {
  hashLength,
  headerBytes,
  headerLength,
  pathsIn,
  readFully,
  readHeader,
  removeVectorFile,
  rowShape,
} from './vector-format.ts'

/**
 * Drops the vectors of texts that no entry has any more, whichever model made them. Both files are rewritten, so that
 * no trace of those texts stays in them. The caller holds the memory's lock.
 *
 * @param used hashes of texts in hexadecimal
 * @throws MemoryError WRITE_FAILED; the previous files stay
 */
export function dropUnusedVectors(fileSystem: FileSystem, folder: string, used: ReadonlySet<string>): void {
  const paths = pathsIn(folder)
  const header = readHeader(fileSystem, paths.rows)
  if (!header) {
    removeVectorFile(fileSystem, folder)
    return
  }
  const rows: Rows = { path: paths.rows, from: headerLength, length: rowShape(header.dimensions).stride }
  const exact: Rows = { path: paths.exact, from: 0, length: header.dimensions * 4 }
  const count = Math.floor(Math.min(lengthOf(fileSystem, rows), lengthOf(fileSystem, exact)))
  const kept: number[] = []
  let slot = 0
  for (const row of rowsAt(fileSystem, rows, Array(count).keys())) {
    if (used.has(row.toString('hex', 0, hashLength))) kept.push(slot)
    slot++
  }
  // A killed process may have left half a row after the last one.
  if ([rows, exact].every((file) => lengthOf(fileSystem, file) === kept.length)) return
  const fresh = headerBytes({ ...header, generation: randomName() })
  writing(paths.rows, () => {
    const newRows = writeTemporary(fileSystem, paths.rows, concat([fresh], rowsAt(fileSystem, rows, kept)))
    orDiscard(fileSystem, newRows, () => {
      const newExact = writeTemporary(fileSystem, paths.exact, rowsAt(fileSystem, exact, kept))
      orDiscard(fileSystem, newExact, () => {
        // Rows next to exact vectors of other texts would give false hits: a crash in between must leave no rows at
        // all.
        fileSystem.unlinkSync(paths.rows)
        fileSystem.renameSync(newExact, paths.exact)
        fileSystem.renameSync(newRows, paths.rows)
      })
    })
    syncFolder(folder, fileSystem)
  })
}

/** How many vectors are kept, used or not. */
export function countKeptVectors(fileSystem: FileSystem, folder: string): number {
  const path = pathsIn(folder).rows
  const header = readHeader(fileSystem, path)
  if (!header) return 0
  const { stride } = rowShape(header.dimensions)
  return Math.floor(lengthOf(fileSystem, { path, from: headerLength, length: stride }))
}

/** A file of fixed-length rows that start at byte `from`. */
interface Rows {
  path: string
  from: number
  length: number
}

/** Number of rows; not an integer when the last row is torn. */
const lengthOf = (fileSystem: FileSystem, { path, from, length }: Rows): number =>
  Math.max(0, ((statusOf(fileSystem, path)?.size ?? 0) - from) / length)

/** Yields the rows at some slots; the buffer is reused for the next one. */
function* rowsAt(
  fileSystem: FileSystem,
  { path, from, length }: Rows,
  slots: Iterable<number>,
): Generator<Buffer> {
  const row = Buffer.alloc(length)
  const descriptor = fileSystem.openSync(path, 'r')
  try {
    for (const slot of slots) {
      readFully(fileSystem, descriptor, row, from + slot * length)
      yield row
    }
  } finally {
    fileSystem.closeSync(descriptor)
  }
}

function* concat(...parts: Iterable<Uint8Array>[]): Generator<Uint8Array> {
  for (const part of parts) yield* part
}
