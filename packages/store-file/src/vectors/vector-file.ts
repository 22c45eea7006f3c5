import { MemoryError, MemoryErrorCode } from '@recall/core'
import { ensureFolder } from '../atomic-write.ts'
import { randomName } from '../digest.ts'
import { type FileSystem, statusOf } from '../file-system.ts'
import { highest } from './highest.ts'
import { createScan, type Scan } from './scan.ts'
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
import { Memory } from './web-assembly.ts'

/**
 * The vectors of one model, in two files that grow until the index is rebuilt: `vectors.i8` holds, for each, the hash
 * of its text, a scale and 8-bit integers, and is scanned; `vectors.f32` holds them exactly, and is read for the best.
 * Both are derived: they may be deleted at any time.
 */
export interface VectorFile {
  /** Another one after the files were made anew: numbers of slots mean nothing across generations. */
  readonly generation: string
  readonly count: number
  /** Whether the files are still those that were opened, and hold as much as was read of them. */
  isWhole(): boolean
  /** False when a disk gave back other bytes than were written, zeros say: no row is empty, and some are compared with their exact vectors. */
  isSound(): boolean
  /** Slot of each text that has a vector, by the hash of the text in hexadecimal. */
  slots(): ReadonlyMap<string, number>
  /** Adds vectors behind the others; returns their slots. The caller holds the memory's lock. */
  append(vectors: readonly { hash: Uint8Array; vector: Float32Array }[]): number[]
  /**
   * Cosine of the query and some slots, within about `scanError`, in their order; of every slot when none are named.
   *
   * @param slots one that is not there is like nothing: 0
   * @param into as long as the slots, to be filled and returned
   */
  scan(query: Float32Array, slots?: Int32Array, into?: Float32Array): Float32Array
  /** Cosine of the query and some slots, exactly. */
  exact(query: Float32Array, slots: readonly number[]): Float32Array
  /** The slots nearest to the query, nearest first. */
  nearest(query: Float32Array, count: number): number[]
}

/** About the most that a cosine of eight bits is wrong by. */
export const scanError = 0.005

/** Eight bits order near-equals at random: so many more are compared exactly. */
export const spare = 32

/** Rows that are compared with their exact vectors when the files are opened: it takes less than a millisecond. */
const sampledRows = 32
/**
 * Opens the vectors that a folder holds, or makes new files for them: whoever may do that holds the memory's lock.
 *
 * @throws MemoryError CONFLICT when the files hold vectors of another model, INVALID_INPUT when the name of the model is
 * too long to be noted
 */
export function openVectorFile(fileSystem: FileSystem, folder: string, space: VectorSpace): VectorFile {
  const { dimensions } = space
  const { width, stride } = rowShape(dimensions)
  const paths = pathsIn(folder)
  const header = readHeader(fileSystem, paths.rows)
  if (header && (header.model !== space.model || header.dimensions !== dimensions)) {
    throw otherModel(header.model, space.model)
  }
  const generation = header?.generation ?? create(fileSystem, folder, paths, space)

  const memory = new Memory({ initial: 1 })
  let scan: Scan | undefined
  let count = 0
  let known: Map<string, number> | undefined
  /** What the integers of each row are multiplied with. */
  let scales = new Float32Array(0)
  /** Rows come first in memory; the query and the results behind them. */
  const behind = (rows: number): number => Math.ceil((rows * stride) / 16) * 16

  const refresh = (): void => {
    const size = fileSystem.lstatSync(paths.rows).size
    const exactRows = Math.floor((statusOf(fileSystem, paths.exact)?.size ?? 0) / (dimensions * 4))
    // What a killed process wrote half is not there yet.
    const there = Math.min(Math.floor((size - headerLength) / stride), exactRows)
    if (there <= count) return
    const needed = behind(there) + width * 2 + there * 4
    const pages = Math.ceil((needed - memory.buffer.byteLength) / 65536)
    if (pages > 0) memory.grow(Math.max(pages, Math.ceil(memory.buffer.byteLength / 65536 / 4)))
    const target = new Uint8Array(memory.buffer, count * stride, (there - count) * stride)
    readInto(fileSystem, paths.rows, target, headerLength + count * stride)
    for (let slot = count; slot < there && known; slot++) known.set(hashAt(slot), slot)
    const view = new DataView(memory.buffer)
    const grown = new Float32Array(there)
    grown.set(scales)
    for (let slot = count; slot < there; slot++)
      grown[slot] = view.getFloat32(slot * stride + hashLength, true)
    scales = grown
    count = there
  }

  const hashAt = (slot: number): string =>
    Buffer.from(memory.buffer, slot * stride, hashLength).toString('hex')

  /** What is made of the exact vector of each slot, which is in the view during the call only. */
  const ofExact = (
    slots: readonly number[],
    make: (values: DataView, slot: number) => number,
  ): Float32Array => {
    const vector = new Uint8Array(dimensions * 4)
    const values = new DataView(vector.buffer)
    const descriptor = fileSystem.openSync(paths.exact, 'r')
    try {
      return Float32Array.from(slots, (slot) => {
        fileSystem.readSync(descriptor, vector, 0, vector.length, slot * vector.length)
        return make(values, slot)
      })
    } finally {
      fileSystem.closeSync(descriptor)
    }
  }

  const exact = (query: Float32Array, slots: readonly number[]): Float32Array =>
    ofExact(slots, (values) => {
      let sum = 0
      for (let i = 0; i < dimensions; i++) sum += (query[i] as number) * values.getFloat32(i * 4, true)
      return sum
    })

  /** The most that an exact number differs from its integer, in steps of the integers: half of one where both are whole. */
  const largestError = (values: DataView, slot: number): number => {
    const integers = new Int8Array(memory.buffer, slot * stride + hashLength + 4, dimensions)
    const scale = scales[slot] as number
    let most = 0
    integers.forEach((integer, i) => {
      most = Math.max(most, Math.abs(values.getFloat32(i * 4, true) / scale - integer))
    })
    return most
  }

  refresh()
  return {
    generation,
    exact,

    nearest(query, wanted) {
      const best = highest(this.scan(query), wanted + spare, -1)
      const similarities = exact(query, best)
      return best
        .map((slot, i) => ({ slot, similarity: similarities[i] as number }))
        .sort((a, b) => b.similarity - a.similarity)
        .slice(0, wanted)
        .map(({ slot }) => slot)
    },

    get count() {
      return count
    },

    isWhole() {
      const rows = statusOf(fileSystem, paths.rows)?.size ?? 0
      const vectors = statusOf(fileSystem, paths.exact)?.size ?? 0
      return (
        rows >= headerLength + count * stride &&
        vectors >= count * dimensions * 4 &&
        readHeader(fileSystem, paths.rows)?.generation === generation
      )
    },

    isSound() {
      if (count === 0) return true
      if (scales.some((scale) => !(scale > 0 && scale < Number.POSITIVE_INFINITY))) return false
      const step = Math.max(1, Math.floor(count / sampledRows))
      const sampled = Array.from({ length: Math.ceil(count / step) }, (_, i) => i * step)
      return ofExact(sampled, largestError).every((error) => error < 1)
    },

    slots() {
      refresh()
      known ??= new Map(Array.from({ length: count }, (_, slot) => [hashAt(slot), slot]))
      return known
    },

    append(vectors) {
      refresh()
      const first = count
      const rows = Buffer.alloc(vectors.length * stride)
      const exact = Buffer.alloc(vectors.length * dimensions * 4)
      vectors.forEach(({ hash, vector }, i) => {
        if (vector.length !== dimensions) {
          throw new MemoryError(
            `'${space.model}' gave ${vector.length} dimensions, not ${dimensions}`,
            MemoryErrorCode.CONFLICT,
          )
        }
        rows.set(hash, i * stride)
        const scale = largest(vector) / 127 || 1
        rows.writeFloatLE(scale, i * stride + hashLength)
        vector.forEach((value, j) => {
          rows.writeInt8(Math.round(value / scale), i * stride + hashLength + 4 + j)
          exact.writeFloatLE(value, (i * dimensions + j) * 4)
        })
      })
      // The exact ones first: a row that can be found can be compared.
      writeAt(fileSystem, paths.exact, exact, first * dimensions * 4)
      writeAt(fileSystem, paths.rows, rows, headerLength + first * stride)
      refresh()
      return vectors.map((_, i) => first + i)
    },

    scan(query, slots, into) {
      refresh()
      const similarities = into ?? new Float32Array(slots?.length ?? count)
      if (similarities.length === 0) return similarities
      scan ??= createScan(memory)
      const at = behind(count)
      const scale = largest(query) / 32767 || 1
      const numbers = new Int16Array(memory.buffer, at, width).fill(0)
      query.forEach((value, i) => {
        numbers[i] = Math.round(value / scale)
      })
      scan(at, hashLength + 4, count, stride, width, at + width * 2)
      const products = new Int32Array(memory.buffer, at + width * 2, count)
      for (let i = 0; i < similarities.length; i++) {
        const slot = slots ? (slots[i] as number) : i
        similarities[i] = slot < count ? (products[slot] as number) * (scales[slot] as number) * scale : 0
      }
      return similarities
    },
  }
}

function create(
  fileSystem: FileSystem,
  folder: string,
  paths: { rows: string; exact: string },
  space: VectorSpace,
): string {
  const { model, dimensions } = space
  const header: Header = { model, dimensions, generation: randomName() }
  const bytes = headerBytes(header)
  ensureFolder(fileSystem, folder)
  removeVectorFile(fileSystem, folder)
  writeAt(fileSystem, paths.exact, Buffer.alloc(0), 0)
  writeAt(fileSystem, paths.rows, bytes, 0)
  return header.generation
}

function otherModel(kept: string, given: string): MemoryError {
  return new MemoryError(
    `the vectors of this memory are of '${kept}', not '${given}': run 'recall reindex --model' to make them anew`,
    MemoryErrorCode.CONFLICT,
  )
}

const largest = (vector: Float32Array): number => {
  let most = 0
  for (const value of vector) most = Math.max(most, Math.abs(value))
  return most
}

function writeAt(fileSystem: FileSystem, path: string, bytes: Uint8Array, position: number): void {
  const descriptor = fileSystem.openSync(path, fileSystem.existsSync(path) ? 'r+' : 'w')
  try {
    for (let written = 0; written < bytes.length; ) {
      written += fileSystem.writeSync(descriptor, bytes, written, bytes.length - written, position + written)
    }
    // The index says next what lies here: after a power cut it must not name rows of zeros.
    fileSystem.fsyncSync(descriptor)
  } finally {
    fileSystem.closeSync(descriptor)
  }
}
