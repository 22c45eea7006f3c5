import type { SearchIndex } from '../search-index/search-index.ts'
import { type DocumentTexts, everyText, type UnitTexts } from './texts.ts'
import type { VectorFile } from './vector-file.ts'

/** Whether the index refers to this generation of the vectors. */
export const isInStep = (current: SearchIndex, file: VectorFile): boolean =>
  current.fact('vectors') === file.generation

/**
 * Brings an index in step with the vectors: rows about slots that are no more are dropped, and an index that was made
 * anew is told which texts have vectors already.
 */
export function bringInStep(current: SearchIndex, file: VectorFile, unitTexts: UnitTexts): void {
  if (isInStep(current, file)) {
    current.dropVectors(file.count)
    return
  }
  current.dropVectors(0)
  if (file.count > 0) {
    const slots = file.slots()
    for (const documents of everyText(current, unitTexts, { withoutVectors: true }))
      putKnown(current, slots, documents)
  }
  // Last, so that an interrupted run starts over.
  current.setFact('vectors', file.generation)
}

/** Records the slots of documents whose texts all have a vector. */
export const putKnown = (
  current: SearchIndex,
  slots: ReadonlyMap<string, number>,
  documents: readonly DocumentTexts[],
): void =>
  current.putVectors(
    documents.flatMap(({ row, hashes }) => {
      const found = hashes.flatMap((hash) => slots.get(hash) ?? [])
      return found.length === hashes.length ? { row, slots: found } : []
    }),
  )
