import { textHash } from '../files/digest.ts'
import type { DocumentRow, HashedRow } from '../search-index/document-row.ts'
import type { SearchIndex } from '../search-index/search-index.ts'

/** A document with the texts of its units and their hashes, which key the vectors. */
export interface DocumentTexts {
  row: HashedRow
  texts: string[]
  hashes: string[]
}

/**
 * Begins to read documents, each file once. The reader returns the texts of a document's units, or `null` when its file
 * has changed since it was indexed.
 */
export type UnitTexts = () => (row: DocumentRow) => string[] | null

/** The texts of documents. Those whose file has changed are left out: they come up again once it is re-indexed. */
export function textsOf(rows: readonly HashedRow[], unitTexts: UnitTexts): DocumentTexts[] {
  const read = unitTexts()
  return rows.flatMap((row) => {
    const texts = read(row)
    return texts?.length === row.units ? [{ row, texts, hashes: texts.map(textHash) }] : []
  })
}

/** Yields the texts of all documents in batches; with `lackingAt`, only of those that are to get a vector then. */
export function* everyText(
  index: SearchIndex,
  unitTexts: UnitTexts,
  lackingAt?: number,
): Generator<DocumentTexts[]> {
  for (let after = 0; ; ) {
    const rows = index.documentsWithUnits(after, documentsAtOnce, lackingAt)
    const last = rows.at(-1)
    if (!last) return
    after = last.id
    yield textsOf(rows, unitTexts)
  }
}

export const documentsAtOnce = 64
