import { type Place, type Spread, spreadOf } from '@recall/core'
import type { FileSystem } from '../files/file-system.ts'
import type { SearchIndex } from '../search-index/search-index.ts'
import { highest } from './highest.ts'
import { bringInStep, isInStep } from './in-step.ts'
import { createMissingVectors, type MissingVectorsOptions } from './missing-vectors.ts'
import {
  extraCandidates,
  openKeptVectors,
  openVectorFile,
  scanError,
  type VectorFile,
} from './vector-file.ts'
import { generationOf, removeVectorFile } from './vector-format.ts'
import { unlessReplaced, VectorsReplaced } from './vectors-replaced.ts'

export interface VectorIndexOptions extends MissingVectorsOptions {
  fileSystem: FileSystem
  /** Where the index is. */
  folder: string
  onNotice: (text: string) => void
}

/** The vectors of a scope of a namespace, asked about one query. */
export interface MeaningArm {
  spread: Spread
  /** Row ids of the `count` units nearest to the query, nearest first; fewer when there are not so many. */
  nearest(count: number): number[]
  /** Cosine of a unit, by its row id, when it has a vector. */
  similarity(id: number): number | undefined
}

/** Where the units of a place have their vectors, in one state of the index. */
interface VectorPlaces {
  state: string
  /** Row ids, ascending, and the slot of each. */
  units: Int32Array
  slots: Int32Array
  /** Reused by every search: allocating it anew costs more in garbage collection than filling it. */
  similarities: Float32Array
}

/** Keeps a vector for every unit of every entry, by the hash of its text: no text is embedded twice. */
export type VectorIndex = ReturnType<typeof createVectorIndex>

export function createVectorIndex(options: VectorIndexOptions) {
  const { fileSystem, folder, embedder, onNotice, exclusively, unitTexts } = options
  let opened: VectorFile | undefined
  /** The generation of vectors that are damaged. */
  let damaged: string | undefined
  /** The one that the index was last brought in step with. */
  let compared: VectorFile | undefined
  const places = new Map<string, VectorPlaces>()

  /** The vectors on disk; `undefined` when they were deleted, or never made. */
  const kept = (): VectorFile | undefined => {
    // Another process may have replaced them, perhaps with another model's: then nothing we know of them holds.
    if (opened && !opened.isWhole()) forget()
    if (opened) return opened
    const generation = generationOf(fileSystem, folder)
    if (generation === null || generation === damaged) return undefined
    const file = openKeptVectors(fileSystem, folder, embedder)
    if (file.isSound()) opened = file
    else {
      damaged = generation
      onNotice(
        `the vectors in ${folder} are damaged: they are made anew, and searches find by words until then`,
      )
    }
    return opened
  }

  /** Like `kept`, but creates the files where there are none. The caller holds the memory's lock. */
  const open = (): VectorFile => {
    opened = kept()
    if (opened) return opened
    removeVectorFile(fileSystem, folder)
    opened = openVectorFile(fileSystem, folder, embedder)
    return opened
  }

  const forget = (): void => {
    opened = undefined
    places.clear()
  }

  const inStep = (current: SearchIndex, file: VectorFile): VectorFile => {
    if (file !== compared || !isInStep(current, file)) {
      bringInStep(current, file, unitTexts)
      compared = file
    }
    return file
  }

  const placesOf = (current: SearchIndex, file: VectorFile, { scope, namespace }: Place) => {
    const state = `${file.generation} ${current.state()}`
    const place = `${scope} ${namespace}`
    const known = places.get(place)
    if (known?.state === state) return known
    const rows = current.unitSlots(scope, namespace)
    const fresh = {
      state,
      units: Int32Array.from(rows, ({ unit }) => unit),
      slots: Int32Array.from(rows, ({ slot }) => slot),
      similarities: new Float32Array(rows.length),
    }
    places.set(place, fresh)
    return fresh
  }

  /** Takes a look at the vectors, again if they were replaced meanwhile. */
  const steadily = <T>(look: () => T): T => unlessReplaced(look, forget)

  const missing = createMissingVectors({ kept, open, inStep, steadily }, options)

  return {
    model: embedder.model,

    ...missing,

    /** Forgets every vector, whatever model made it; `catchUp` makes them anew. */
    reset(): void {
      exclusively(() => {
        removeVectorFile(fileSystem, folder)
        forget()
      })
    },

    /** Takes a look at the vectors, again if another process has replaced them meanwhile. */
    steadily,

    /** Brings an index in step with the vectors, before `arm` is called in a snapshot of it. */
    bringInStep(current: SearchIndex): void {
      const file = kept()
      if (file) inStep(current, file)
    },

    /**
     * Similarities of the units of a place to one query; valid until the next call for that place. `undefined` while no
     * unit there has a vector.
     *
     * @throws VectorsReplaced when the index is not in step with the vectors any more
     */
    arm(current: SearchIndex, place: Place, query: Float32Array): MeaningArm | undefined {
      const file = opened
      if (!file) return undefined
      if (!isInStep(current, file)) throw new VectorsReplaced()
      const { units, slots, similarities } = placesOf(current, file, place)
      if (units.length === 0) return undefined
      file.scan(query, slots, similarities)
      const spread = spreadOf(sumsOf(similarities), embedder.unrelated)
      const rescored = new Map<number, number>()

      return {
        spread,
        nearest(count) {
          const least = spread.mean + leastDeviations * spread.deviation
          const best = highest(similarities, Math.min(count + extraCandidates, similarities.length), least)
          const close = closest(best, similarities)
          const exact = file.exact(
            query,
            close.map((at) => slots[at] as number),
          )
          close.forEach((at, i) => {
            rescored.set(units[at] as number, exact[i] as number)
          })
          return [
            ...close
              .map((at) => units[at] as number)
              .sort((a, b) => (rescored.get(b) as number) - (rescored.get(a) as number)),
            ...best.slice(close.length).map((at) => units[at] as number),
          ].slice(0, count)
        },
        similarity(id) {
          const at = positionOf(units, id)
          return rescored.get(id) ?? (at === -1 ? undefined : similarities[at])
        },
      }
    },
  }
}

/** A unit has to be at least this many standard deviations above the mean to be a candidate. */
const leastDeviations = 1.5

/**
 * Those of the best (best first) that could be among the top ten, given that eight bits are wrong by at most
 * `scanError`. Each is re-scored with its exact vector, whose read from disk costs more than everything else.
 */
function closest(best: readonly number[], similarities: Float32Array): readonly number[] {
  const tenth = similarities[best[Math.min(9, best.length - 1)] ?? 0] as number
  const beyond = best.findIndex((at) => (similarities[at] as number) < tenth - 2 * scanError)
  return beyond === -1 ? best : best.slice(0, beyond)
}

/** The sums from which `spreadOf` derives mean and deviation. */
function sumsOf(similarities: Float32Array) {
  let sum = 0
  let squares = 0
  let best = -1
  for (let i = 0; i < similarities.length; i++) {
    const value = similarities[i] as number
    sum += value
    squares += value * value
    if (value > best) best = value
  }
  return { count: similarities.length, sum, squares, best }
}

/** Index of a number in an ascending list, or -1 (binary search). */
function positionOf(numbers: Int32Array, wanted: number): number {
  let low = 0
  let high = numbers.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const number = numbers[middle] as number
    if (number === wanted) return middle
    if (number < wanted) low = middle + 1
    else high = middle - 1
  }
  return -1
}
