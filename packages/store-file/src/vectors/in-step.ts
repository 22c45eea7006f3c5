import type { SearchIndex } from '../search-index/search-index.ts'
import { type DocumentTexts, everyText, type UnitTexts } from './texts.ts'
import type { VectorFile } from './vector-file.ts'
import { VectorsReplaced } from './vectors-replaced.ts'

/** Whether the index refers to this generation of the vectors. */
export const isInStep = (current: SearchIndex, file: VectorFile): boolean =>
  current.areMarked(file.generation)

/**
 * Brings an index in step with the vectors: rows for slots that no longer exist are dropped, and a rebuilt index learns
 * which texts already have vectors. Several processes may do it at once; an interrupted run is continued.
 *
 * @throws VectorsReplaced when another process did it with other vectors meanwhile, or was faster
 */
export function bringInStep(current: SearchIndex, file: VectorFile, unitTexts: UnitTexts): void {
  if (isInStep(current, file)) {
    current.dropVectors(file.count)
    return
  }
  const begun = `filling ${file.generation}`
  current.beginVectors(begun)
  if (file.count > 0) {
    const slots = file.slots()
    for (const documents of everyText(current, unitTexts, Number.NEGATIVE_INFINITY))
      putKnown(current, begun, slots, documents)
  }
  if (!current.endVectors(begun, file.generation)) throw new VectorsReplaced()
}

/**
 * Records the slots of documents' units whose texts have a vector.
 *
 * @param mark the expected mark of the vectors that the index refers to
 * @throws VectorsReplaced when they have another mark by now
 */
export function putKnown(
  current: SearchIndex,
  mark: string,
  slots: ReadonlyMap<string, number>,
  documents: readonly DocumentTexts[],
): void {
  const known = documents.map(({ row, hashes }) => ({ row, slots: hashes.map((hash) => slots.get(hash)) }))
  if (!current.putVectors(mark, known)) throw new VectorsReplaced()
}
