import { createScan, type Scan } from './scan.ts'
import { hashLength, rowShape } from './vector-format.ts'
import { Memory } from './web-assembly.ts'

/** Rows of `vectors.i8` in WebAssembly memory. */
export interface ScannedRows {
  readonly count: number
  /** Appends rows; `read` fills the bytes that it is given. */
  add(rows: number, read: (target: Uint8Array) => void): void
  /** Hash of the text in a slot, in hexadecimal. */
  hashAt(slot: number): string
  /** Integers of a slot; multiplied by its scale, they are the vector. Valid until rows are added. */
  integersAt(slot: number): Int8Array
  /** Scale of each slot. */
  scales(): Float32Array
  /** Starts comparing a query with the rows. It invalidates the question that the previous call returned. */
  ask(query: Float32Array): Question
}

/** A query, compared with rows in some slots. A slot that does not exist has similarity 0, and differs in all signs. */
export interface Question {
  /**
   * Cosine of each slot, in their order, to within about `scanError`.
   *
   * @param into buffer of the same length, which is filled and returned
   */
  similarities(slots: Int32Array, into?: Float32Array): Float32Array
  /** How many signs of each slot's vector differ from the query's: the more, the less alike they are likely to be. */
  differences(slots: Int32Array): Int32Array
  /** Positions, ascending, of the slots whose vectors differ in at most `most` signs. */
  within(slots: Int32Array, most: number): Int32Array
}

/** Slots that are compared in one go. */
const pieceLength = 16_384

export function createScannedRows(dimensions: number): ScannedRows {
  const { width, stride } = rowShape(dimensions)
  const sketchLength = Math.ceil(width / 128) * 16
  let scan: Scan | undefined
  let count = 0
  let capacity = 0
  /** Rows that have a sketch. */
  let sketched = 0
  let scales = new Float32Array(0)

  // The memory holds a query and its sketch, a piece of slots and its results, all rows, and all sketches.
  const querySketch = width * 2
  const list = Math.ceil((querySketch + sketchLength) / 16) * 16
  const out = list + pieceLength * 4
  const rows = out + pieceLength * 4
  const sketchesBehind = (someRows: number): number => Math.ceil((rows + someRows * stride) / 16) * 16
  const addressOf = (slot: number): number => rows + slot * stride
  const integersOf = (slot: number): number => addressOf(slot) + hashLength + 4
  const memory = new Memory({ initial: Math.ceil(rows / 65536) })

  const growTo = (wanted: number): void => {
    if (wanted <= capacity) return
    const [before, after] = [sketchesBehind(capacity), sketchesBehind(wanted)]
    const pages = Math.ceil((after + wanted * sketchLength - memory.buffer.byteLength) / 65536)
    if (pages > 0) memory.grow(pages)
    new Uint8Array(memory.buffer).copyWithin(after, before, before + sketched * sketchLength)
    capacity = wanted
  }

  const sketchNew = (sketch: Scan['sketch']): void => {
    const to = sketchesBehind(capacity) + sketched * sketchLength
    sketch(integersOf(sketched), count - sketched, stride, width, sketchLength, to)
    sketched = count
  }

  /** Lets `compare` process the slots piece by piece, and `take` the results. */
  const inPieces = (
    slots: Int32Array,
    compare: (length: number) => void,
    take: (found: Int32Array, from: number) => void,
  ): void => {
    for (let from = 0; from < slots.length; from += pieceLength) {
      const piece = slots.subarray(from, from + pieceLength)
      new Int32Array(memory.buffer, list, piece.length).set(piece)
      compare(piece.length)
      take(new Int32Array(memory.buffer, out, piece.length), from)
    }
  }

  return {
    get count() {
      return count
    },

    scales: () => scales,

    hashAt: (slot) => Buffer.from(memory.buffer, addressOf(slot), hashLength).toString('hex'),

    integersAt: (slot) => new Int8Array(memory.buffer, integersOf(slot), dimensions),

    add(added, read) {
      const there = count + added
      // A quarter more than needed now, unless these are the first.
      if (there > capacity) growTo(Math.max(there, Math.ceil(capacity * 1.25)))
      read(new Uint8Array(memory.buffer, addressOf(count), added * stride))
      const view = new DataView(memory.buffer)
      const grown = new Float32Array(there)
      grown.set(scales)
      for (let slot = count; slot < there; slot++)
        grown[slot] = view.getFloat32(addressOf(slot) + hashLength, true)
      scales = grown
      count = there
    },

    ask(query) {
      scan ??= createScan(memory)
      const { multiply, sketch, differ, choose } = scan
      const scale = largest(query) / 32767 || 1
      const numbers = new Int16Array(memory.buffer, 0, width).fill(0)
      const signs = new Uint8Array(memory.buffer, querySketch, sketchLength).fill(0)
      query.forEach((value, i) => {
        numbers[i] = Math.round(value / scale)
        if (value < 0) signs[i >> 3] = (signs[i >> 3] as number) | (1 << (i & 7))
      })
      const multiplied = (length: number): void =>
        multiply(0, integersOf(0), count, list, length, stride, width, out)
      const differing = (length: number): void =>
        differ(querySketch, sketchesBehind(capacity), count, list, length, sketchLength, out)
      return {
        similarities(slots, into = new Float32Array(slots.length)) {
          if (count === 0) return into.fill(0)
          inPieces(slots, multiplied, (products, from) => {
            for (let i = 0; i < products.length; i++) {
              const itsScale = scales[slots[from + i] as number] ?? 0
              into[from + i] = (products[i] as number) * itsScale * scale
            }
          })
          return into
        },

        differences(slots) {
          sketchNew(sketch)
          const all = new Int32Array(slots.length)
          inPieces(slots, differing, (differences, from) => all.set(differences, from))
          return all
        },

        within(slots, most) {
          sketchNew(sketch)
          const positions = new Int32Array(slots.length)
          let found = 0
          inPieces(slots, differing, (differences, from) => {
            const chosen = differences.subarray(0, choose(out, differences.length, most))
            for (let i = 0; i < chosen.length; i++) positions[found++] = from + (chosen[i] as number)
          })
          return positions.subarray(0, found)
        },
      }
    },
  }
}

export const largest = (vector: Float32Array): number => {
  let most = 0
  for (const value of vector) most = Math.max(most, Math.abs(value))
  return most
}
