import { textHash } from '../digest.ts'
import type { DocumentRow, HashedRow } from '../index/document-row.ts'
import type { SearchIndex } from '../index/search-index.ts'

/** A document with the texts of its units, and the hash of each by which its vector is kept. */
export interface DocumentTexts {
  row: HashedRow
  texts: string[]
  hashes: string[]
}

/** The texts of an entry's units; `null` when its file no longer says what was indexed. */
export type UnitTexts = (row: DocumentRow) => string[] | null

/** Reads the texts of documents, of those whose file says what was indexed: others come again when it was indexed anew. */
export const textsOf = (rows: readonly HashedRow[], unitTexts: UnitTexts): DocumentTexts[] =>
  rows.flatMap((row) => {
    const texts = unitTexts(row)
    return texts?.length === row.units ? [{ row, texts, hashes: texts.map(textHash) }] : []
  })

/** Reads the texts of all documents, some at a time. */
export function* everyText(
  index: SearchIndex,
  unitTexts: UnitTexts,
  { withoutVectors = false } = {},
): Generator<DocumentTexts[]> {
  for (let after = 0; ; ) {
    const rows = index.documentsWithUnits(after, documentsAtOnce, { withoutVectors })
    const last = rows.at(-1)
    if (!last) return
    after = last.id
    yield textsOf(rows, unitTexts)
  }
}

export const documentsAtOnce = 64
