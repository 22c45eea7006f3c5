import { MemoryError, MemoryErrorCode } from '@recall/core'
import { orAbsent } from '@recall/core/process'
import { randomName } from '../files/digest.ts'
import { type FileSystem, statusOf } from '../files/file-system.ts'
import { ensureInternal } from '../files/folders.ts'
import { createScannedRows, largest, type Question } from './scanned-rows.ts'
import {
  type Header,
  hashLength,
  headerBytes,
  headerLength,
  pathsIn,
  readHeader,
  readInto,
  removeVectorFile,
  rowShape,
  type VectorSpace,
} from './vector-format.ts'
import { VectorsReplaced } from './vectors-replaced.ts'

/**
 * The vectors of one model, in two files that grow until the index is rebuilt: `vectors.i8` holds, for each vector, the
 * hash of its text, a scale and 8-bit integers, and is scanned; `vectors.f32` holds the exact vectors, and is read only
 * for the best matches. Both are derived: they may be deleted at any time.
 */
export interface VectorFile {
  /** Changes when the files are recreated: slot numbers of one generation mean nothing in another. */
  readonly generation: string
  readonly count: number
  /** Whether the files on disk are still the ones that were opened, and no shorter. */
  isWhole(): boolean
  /**
   * False when the disk returned other bytes than were written, such as zeros: every scale must be positive, and a
   * sample of the rows is compared with their exact vectors.
   */
  isSound(): boolean
  /** Slot of each vector, by the hash of its text in hexadecimal. */
  slots(): ReadonlyMap<string, number>
  /** Appends vectors; returns their slots. The caller holds the memory's lock. */
  append(vectors: readonly { hash: Uint8Array; vector: Float32Array }[]): number[]
  /** Starts comparing a query with the vectors. It invalidates the question that the previous call returned. */
  ask(query: Float32Array): Question
  /** Exact cosine between the query and each of some slots. */
  exact(query: Float32Array, slots: readonly number[]): Float32Array
}

/** Rows compared with their exact vectors when the files are opened, in less than a millisecond. */
const sampledRows = 32

/**
 * Opens the vectors in a folder, or creates empty files. The caller holds the memory's lock.
 *
 * @throws MemoryError CONFLICT when the files hold vectors of another model or length, INVALID_INPUT when the model's
 * name is too long to be stored
 */
export function openVectorFile(fileSystem: FileSystem, folder: string, space: VectorSpace): VectorFile {
  if (!readHeader(fileSystem, pathsIn(folder).rows)) create(fileSystem, folder, space)
  return openKeptVectors(fileSystem, folder, space)
}

/**
 * Opens the vectors that a folder holds. Later reads fail with `VectorsReplaced` once others are in their place.
 *
 * @throws MemoryError CONFLICT as `openVectorFile`; VectorsReplaced when there are none, or others by now
 */
export function openKeptVectors(fileSystem: FileSystem, folder: string, space: VectorSpace): VectorFile {
  const { dimensions } = space
  const { stride } = rowShape(dimensions)
  const paths = pathsIn(folder)
  const header = readHeader(fileSystem, paths.rows)
  if (!header) throw new VectorsReplaced()
  if (header.model !== space.model || header.dimensions !== dimensions) {
    throw otherModel(header, space)
  }
  const { generation } = header

  const rows = createScannedRows(dimensions)
  let known: Map<string, number> | undefined

  /**
   * Runs a read of the files. A generation never comes back: if it is there afterwards, it was there throughout.
   *
   * @throws VectorsReplaced
   */
  const reading = <T>(read: () => T): T => {
    const result = orAbsent(read)
    const isThere = readHeader(fileSystem, paths.rows)?.generation === generation
    if (result === null || !isThere) throw new VectorsReplaced()
    return result
  }

  const refresh = (): void => {
    const size = statusOf(fileSystem, paths.rows)?.size ?? 0
    const exactRows = Math.floor((statusOf(fileSystem, paths.exact)?.size ?? 0) / (dimensions * 4))
    // A row that a killed process wrote halfway does not count.
    const there = Math.min(Math.floor((size - headerLength) / stride), exactRows)
    const { count } = rows
    if (there <= count) return
    rows.add(there - count, (target) =>
      reading(() => readInto(fileSystem, paths.rows, target, headerLength + count * stride)),
    )
    for (let slot = count; slot < there && known; slot++) known.set(rows.hashAt(slot), slot)
  }

  /** Maps each slot's exact vector to a number. The view is valid only during the call. */
  const ofExact = (
    slots: readonly number[],
    make: (values: DataView, slot: number) => number,
  ): Float32Array => {
    const vector = new Uint8Array(dimensions * 4)
    const values = new DataView(vector.buffer)
    return reading(() => {
      const descriptor = fileSystem.openSync(paths.exact, 'r')
      try {
        return Float32Array.from(slots, (slot) => {
          fileSystem.readSync(descriptor, vector, 0, vector.length, slot * vector.length)
          return make(values, slot)
        })
      } finally {
        fileSystem.closeSync(descriptor)
      }
    })
  }

  const exact = (query: Float32Array, slots: readonly number[]): Float32Array =>
    ofExact(slots, (values) => {
      let sum = 0
      for (let i = 0; i < dimensions; i++) sum += (query[i] as number) * values.getFloat32(i * 4, true)
      return sum
    })

  /** Largest difference between a row's integers and its exact vector, in units of the scale: at most 0.5 if sound. */
  const largestError = (values: DataView, slot: number): number => {
    const scale = rows.scales()[slot] as number
    let most = 0
    rows.integersAt(slot).forEach((integer, i) => {
      most = Math.max(most, Math.abs(values.getFloat32(i * 4, true) / scale - integer))
    })
    return most
  }

  refresh()
  return {
    generation,
    exact,

    get count() {
      return rows.count
    },

    isWhole() {
      const length = statusOf(fileSystem, paths.rows)?.size ?? 0
      const exactLength = statusOf(fileSystem, paths.exact)?.size ?? 0
      return (
        length >= headerLength + rows.count * stride &&
        exactLength >= rows.count * dimensions * 4 &&
        readHeader(fileSystem, paths.rows)?.generation === generation
      )
    },

    isSound() {
      const { count } = rows
      if (count === 0) return true
      if (rows.scales().some((scale) => !(scale > 0 && scale < Number.POSITIVE_INFINITY))) return false
      const step = Math.max(1, Math.floor(count / sampledRows))
      const sampled = Array.from({ length: Math.ceil(count / step) }, (_, i) => i * step)
      return ofExact(sampled, largestError).every((error) => error < 1)
    },

    slots() {
      refresh()
      known ??= new Map(Array.from({ length: rows.count }, (_, slot) => [rows.hashAt(slot), slot]))
      return known
    },

    append(vectors) {
      refresh()
      const first = rows.count
      const added = Buffer.alloc(vectors.length * stride)
      const exact = Buffer.alloc(vectors.length * dimensions * 4)
      vectors.forEach(({ hash, vector }, i) => {
        if (vector.length !== dimensions) {
          throw new MemoryError(
            `'${space.model}' gave ${vector.length} dimensions, not ${dimensions}`,
            MemoryErrorCode.CONFLICT,
          )
        }
        added.set(hash, i * stride)
        const scale = largest(vector) / 127
        added.writeFloatLE(scale, i * stride + hashLength)
        vector.forEach((value, j) => {
          added.writeInt8(Math.round(value / scale), i * stride + hashLength + 4 + j)
          exact.writeFloatLE(value, (i * dimensions + j) * 4)
        })
      })
      // Exact vectors first: a row that can be scanned can then also be re-scored.
      writeAt(fileSystem, paths.exact, exact, first * dimensions * 4)
      writeAt(fileSystem, paths.rows, added, headerLength + first * stride)
      refresh()
      return vectors.map((_, i) => first + i)
    },

    ask(query) {
      refresh()
      return rows.ask(query)
    },
  }
}

function create(fileSystem: FileSystem, folder: string, space: VectorSpace): void {
  const paths = pathsIn(folder)
  const { model, dimensions } = space
  const header: Header = { model, dimensions, generation: randomName() }
  const bytes = headerBytes(header)
  ensureInternal(fileSystem, folder)
  removeVectorFile(fileSystem, folder)
  writeAt(fileSystem, paths.exact, Buffer.alloc(0), 0)
  writeAt(fileSystem, paths.rows, bytes, 0)
}

function otherModel(kept: VectorSpace, given: VectorSpace): MemoryError {
  const is =
    kept.model === given.model
      ? `have ${kept.dimensions} dimensions, not ${given.dimensions}`
      : `are of '${kept.model}', not '${given.model}'`
  return new MemoryError(
    `the vectors of this memory ${is}: run 'recall reindex --model' to make them again, in a program 'store.vectors.reset()'`,
    MemoryErrorCode.CONFLICT,
  )
}

function writeAt(fileSystem: FileSystem, path: string, bytes: Uint8Array, position: number): void {
  const descriptor = fileSystem.openSync(path, fileSystem.existsSync(path) ? 'r+' : 'w')
  try {
    for (let written = 0; written < bytes.length; ) {
      written += fileSystem.writeSync(descriptor, bytes, written, bytes.length - written, position + written)
    }
    // The index will refer to these rows next: after a power cut it must not refer to zeros.
    fileSystem.fsyncSync(descriptor)
  } finally {
    fileSystem.closeSync(descriptor)
  }
}
