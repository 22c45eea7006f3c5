import { join } from 'node:path'
import type { JsonValue, MatchedPassage } from '@recall/core'
import type { Sureness } from '@recall/core/ranking'
import { type FileEntry, unitsOf } from '../documents/file-entry.ts'
import type { FileSystem } from '../files/file-system.ts'
import { fromShown } from '../files/paths.ts'
import type { DocumentRow } from '../search-index/document-row.ts'
import type { SearchIndex } from '../search-index/search-index.ts'

export interface Passage extends MatchedPassage {
  path: string
  /** If the text is not in the file verbatim: the line on which the value it is made of begins. */
  line: number
}

/** A passage with its place in the file, for people. */
export interface PlacedPassage extends Passage {
  /** The value that the text is made of, if the text is not in the file verbatim. */
  madeOf?: JsonValue
}

/** Reads the text of a unit and its neighbours, without reading long documents whole. */
export function createPassageReader(fileSystem: FileSystem, root: string) {
  const fromEntry = (
    path: string,
    entry: FileEntry,
    wanted: readonly (Sureness & { unit: number })[],
  ): Passage[] => {
    const units = unitsOf(entry)
    const cut = (i: number): string | undefined => {
      const found = units[i]
      return found && plain(entry.text.slice(found.start, found.end))
    }
    return wanted.map(({ unit, score, confidence }) => ({
      text: cut(unit) ?? '',
      path,
      line: entry.line + (entry.derived ? 0 : (units[unit]?.line ?? 0)),
      score,
      ...(confidence === undefined ? {} : { confidence }),
      ...withNeighbours([cut(unit - 1), cut(unit + 1)]),
    }))
  }

  const readBytes = (path: string, start: number, length: number): Buffer => {
    const descriptor = fileSystem.openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(length)
      const read = fileSystem.readSync(descriptor, bytes, 0, length, start)
      return bytes.subarray(0, read)
    } finally {
      fileSystem.closeSync(descriptor)
    }
  }

  return {
    fromEntry,

    read(
      index: SearchIndex,
      row: DocumentRow,
      folders: Map<number, string>,
      unit: number,
      readEntry: () => FileEntry | null,
    ): PlacedPassage {
      const folder = folders.get(row.folder) ?? ''
      const path = folder === '' ? row.name : `${folder}/${row.name}`
      // Ids before the first and after the last are units of other documents.
      const near = [unit - 1, unit, unit + 1].filter((number) => number >= 0 && number < row.units)
      const around = row.units > 1 ? index.units(row.id, near) : []
      const own = around.find(({ number }) => number === unit)
      if (!own || own.start < 0) {
        const entry = readEntry()
        const [passage] = entry ? fromEntry(path, entry, [{ unit, score: 0 }]) : []
        if (!entry || !passage) return { text: '', path, line: 1 }
        const { score: _, ...place } = passage
        return entry.derived ? { ...place, madeOf: entry.value } : place
      }
      const first = around[0] as typeof own
      const last = around.at(-1) as typeof own
      const file = join(fromShown(root, folder), row.name)
      const bytes = readBytes(file, first.start, last.start + last.length - first.start)
      const cut = (piece: typeof own | undefined): string | undefined =>
        piece &&
        plain(bytes.toString('utf8', piece.start - first.start, piece.start - first.start + piece.length))
      return {
        text: cut(own) ?? '',
        path,
        line: own.line,
        ...withNeighbours([
          cut(around.find(({ number }) => number === unit - 1)),
          cut(around.find(({ number }) => number === unit + 1)),
        ]),
      }
    },
  }
}

/** As displayed: with plain line ends, and none at the end. */
const plain = (text: string): string => text.trimEnd().replaceAll('\r\n', '\n')

function withNeighbours(texts: (string | undefined)[]): { neighbours?: string[] } {
  const neighbours = texts.filter((text) => text !== undefined)
  return neighbours.length > 0 ? { neighbours } : {}
}
