import { conversationType, redactPartsOf } from '@recall/core'
import { embeddedTexts } from '@recall/core/ranking'
import type { EntryFiles } from '../entries/entry-files.ts'
import type { FileSystem } from '../files/file-system.ts'
import { readText } from '../files/read-text.ts'
import type { Layout } from '../layout/layout.ts'
import { type LocatedEntry, type Source, sourcesOf } from '../layout/sources.ts'
import { claimedKey } from '../search-index/claims.ts'
import type { DocumentRow } from '../search-index/document-row.ts'
import type { UnitTexts } from '../vectors/texts.ts'

export interface RowReaderOptions {
  fileSystem: FileSystem
  root: string
  layout: Layout
  files: EntryFiles
}

/** Reads the entry behind a row of the index; `null` when its file no longer holds it. */
export type RowReader = (row: DocumentRow) => LocatedEntry | null

/** Makes a reader for one search. */
export type CreateRowReader = (folders?: Map<number, string>) => RowReader

/** A reader reads each file once, because thousands of sections may share one. */
export function rowReaders({ fileSystem, root, layout, files }: RowReaderOptions): CreateRowReader {
  let sources: Map<string, Source> | undefined
  const sourceOf = (folder: string): Source | undefined => {
    const known = sources?.get(folder)
    if (known) return known
    sources = new Map(sourcesOf(fileSystem, root, layout).map((source) => [source.path, source]))
    return sources.get(folder)
  }

  return (folders = files.folderPaths()) => {
    const known = new Map<string, Map<string, LocatedEntry>>()
    const entriesIn = (row: DocumentRow): Map<string, LocatedEntry> => {
      const file = readText(fileSystem, files.pathOf(row, folders))
      const source = file && sourceOf(folders.get(row.folder) ?? '')
      const times = { modified: Math.round(file?.stamp.modified ?? 0) }
      const entries = source?.parse(row.name, file?.content ?? '', times) ?? []
      // If two entries share a key, the first has it.
      return new Map(entries.toReversed().map((entry) => [entry.key, entry]))
    }
    return (row) => {
      const name = `${row.folder}/${row.name}`
      const entries = known.get(name) ?? entriesIn(row)
      known.set(name, entries)
      return entries.get(row.key) ?? entries.get(claimedKey(row)) ?? null
    }
  }
}

/**
 * The texts that are embedded for a row, maybe by a server: what `embeddedTexts` makes of its units, without secrets.
 */
export const unitTextsOf =
  (createRowReader: CreateRowReader): UnitTexts =>
  () => {
    const read = createRowReader()
    return (row) => {
      const entry = read(row)
      return entry && embeddedTexts(entry.text, entry.type === conversationType).map(redactPartsOf(entry))
    }
  }
