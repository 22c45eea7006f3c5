import type { Place } from '@recall/core'
import type { FileSystem } from '../files/file-system.ts'
import type { SearchIndex } from '../search-index/search-index.ts'
import { bringInStep, isInStep } from './in-step.ts'
import { createMeaningArm, type MeaningArm, type VectorPlaces } from './meaning-arm.ts'
import { createMissingVectors, type MissingVectorsOptions } from './missing-vectors.ts'
import { openKeptVectors, openVectorFile, type VectorFile } from './vector-file.ts'
import { generationOf, removeVectorFile } from './vector-format.ts'
import { unlessReplaced, VectorsReplaced } from './vectors-replaced.ts'

export interface VectorIndexOptions extends MissingVectorsOptions {
  fileSystem: FileSystem
  /** Folder of the index. */
  folder: string
  onNotice: (text: string) => void
}

/** For one state of the index. */
interface KnownPlaces extends VectorPlaces {
  state: string
}

/** Keeps a vector for every unit of every entry, by the hash of its text: no text is embedded twice. */
export type VectorIndex = ReturnType<typeof createVectorIndex>

export function createVectorIndex(options: VectorIndexOptions) {
  const { fileSystem, folder, embedder, onNotice, exclusively, unitTexts } = options
  let opened: VectorFile | undefined
  /** The generation of vectors that are damaged. */
  let damaged: string | undefined
  /** The vectors that the index was last brought in step with. */
  let compared: VectorFile | undefined
  const places = new Map<string, KnownPlaces>()

  /** The vectors on disk; `undefined` when they were deleted, or never made. */
  const kept = (): VectorFile | undefined => {
    // Another process may have replaced them, perhaps with another model's: then everything we know of them is void.
    if (opened && !opened.isWhole()) forget()
    if (opened) return opened
    const generation = generationOf(fileSystem, folder)
    if (generation === null || generation === damaged) return undefined
    const file = openKeptVectors(fileSystem, folder, embedder)
    if (file.isSound()) opened = file
    else {
      damaged = generation
      onNotice(
        `the vectors in ${folder} are damaged: they are made again, and searches find by words until then`,
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

  /** Reads the vectors, and again if they were replaced meanwhile. */
  const steadily = <T>(look: () => T): T => unlessReplaced(look, forget)

  const missing = createMissingVectors({ kept, open, inStep, steadily }, options)

  return {
    model: embedder.model,

    ...missing,

    /** Forgets every vector, whatever model made it; `catchUp` makes them again. */
    reset(): void {
      exclusively(() => {
        removeVectorFile(fileSystem, folder)
        forget()
      })
    },

    /** Reads the vectors, and again if another process replaced them meanwhile. */
    steadily,

    /** Brings an index in step with the vectors. Call it before `arm`, which runs in a snapshot of the index. */
    bringInStep(current: SearchIndex): void {
      const file = kept()
      if (file) inStep(current, file)
    },

    /**
     * The units of a place, compared with one query; valid until the next call. `undefined` while no unit there has a
     * vector.
     *
     * @throws VectorsReplaced when the index is no longer in step with the vectors
     */
    arm(current: SearchIndex, place: Place, query: Float32Array): MeaningArm | undefined {
      const file = opened
      if (!file) return undefined
      if (!isInStep(current, file)) throw new VectorsReplaced()
      const found = placesOf(current, file, place)
      return found.units.length === 0 ? undefined : createMeaningArm(file, found, query, embedder.unrelated)
    },
  }
}
