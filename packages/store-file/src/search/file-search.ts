import { join } from 'node:path'
import {
  type Address,
  type Embedder,
  errorStatus,
  type Found,
  isMemoryError,
  type JsonValue,
  MemoryError,
  MemoryErrorCode,
  type MemoryScope,
  memoryScopes,
  namedDates,
  type RankWeights,
  type SearchMode,
  type StoreQuery,
  spokenText,
} from '@recall/core'
import { unitsOf } from '../documents/file-entry.ts'
import type { AccessLog } from '../entries/access-log.ts'
import type { EntryFiles } from '../entries/entry-files.ts'
import { sameStamp, stampOf } from '../files/file-stamp.ts'
import { type FileSystem, statusOf } from '../files/file-system.ts'
import { fromShown, shownPath } from '../files/paths.ts'
import { readText } from '../files/read-text.ts'
import type { Layout } from '../layout/layout.ts'
import { type LocatedEntry, mayHold, type Source, sourcesOf } from '../layout/sources.ts'
import type { DocumentRow } from '../search-index/document-row.ts'
import { claimedKey } from '../search-index/indexed-files.ts'
import type { MemoryIndex } from '../search-index/memory-index.ts'
import type { SearchIndex } from '../search-index/search-index.ts'
import { isUnwritable } from '../sqlite/errors.ts'
import { dropUnusedVectors } from '../vectors/drop-unused-vectors.ts'
import { bringInStep } from '../vectors/in-step.ts'
import type { Coverage } from '../vectors/missing-vectors.ts'
import { everyText, type UnitTexts } from '../vectors/texts.ts'
import { openKeptVectors } from '../vectors/vector-file.ts'
import { hasVectorFile, pathsIn, readHeader } from '../vectors/vector-format.ts'
import { createVectorIndex } from '../vectors/vector-index.ts'
import { unlessReplaced } from '../vectors/vectors-replaced.ts'
import { createPassageReader, type Passage } from './passages.ts'
import type { FileAccess } from './row-filter.ts'
import { searchDocuments } from './search.ts'

/** A hit with its place in the files, for people who search. */
export interface LocatedHit extends Passage {
  scope: MemoryScope
  key: string
  type: string | null
  score: number
  /** How likely the memory knows what was asked; none when the query has no text. */
  confidence?: number
  signals: Record<string, number>
  mode: SearchMode
  updated: number
  /** Front matter of an archive, members of a small value. */
  fields: JsonValue
}

export interface FileSearchOptions {
  root: string
  layout: Layout
  fileSystem: FileSystem
  index: MemoryIndex
  accessLog: AccessLog
  files: EntryFiles
  /** Folder of the index. */
  internal: string
  embedder: Embedder | undefined
  onNotice: (text: string) => void
  weights: RankWeights
  /** Runs a section that no other process runs at the same time. */
  exclusively: <T>(section: () => T) => T
  /** Finishes what a dead process began. */
  recover(): void
  /** @throws MemoryError UNAVAILABLE when the memory is away */
  assertPresent(): void
}

/** Searches the files: hits on the index, verified by the files, with the passages that match. */
export function createFileSearch(options: FileSearchOptions) {
  const { root, layout, fileSystem, index, accessLog, files, internal, weights, exclusively, onNotice } =
    options
  const { recover, assertPresent } = options
  const { pathOf, folderPaths, toEntry } = files
  const passages = createPassageReader(fileSystem, root)

  /**
   * Returns a function that reads what a row of the index stands for; `null` when the file no longer says so. It reads
   * each file once, because thousands of sections may share one.
   */
  const createRowReader = (folders = folderPaths()) => {
    const known = new Map<string, Map<string, LocatedEntry>>()
    const entriesIn = (row: DocumentRow): Map<string, LocatedEntry> => {
      const file = readText(fileSystem, pathOf(row, folders))
      const source = file && sourceOf(folders.get(row.folder) ?? '')
      const times = { modified: Math.round(file?.stamp.modified ?? 0) }
      const entries = source?.parse(row.name, file?.content ?? '', times) ?? []
      // Of two entries with one key, the first has it.
      return new Map(entries.toReversed().map((entry) => [entry.key, entry]))
    }
    return (row: DocumentRow): LocatedEntry | null => {
      const name = `${row.folder}/${row.name}`
      const entries = known.get(name) ?? entriesIn(row)
      known.set(name, entries)
      return entries.get(row.key) ?? entries.get(claimedKey(row)) ?? null
    }
  }

  let sources: Map<string, Source> | undefined
  const sourceOf = (folder: string): Source | undefined => {
    const known = sources?.get(folder)
    if (known) return known
    sources = new Map(sourcesOf(fileSystem, root, layout).map((source) => [source.path, source]))
    return sources.get(folder)
  }

  /** Whether a hit's file is still what was indexed. */
  const isCurrent = (row: DocumentRow, folders: Map<number, string>): boolean => {
    const stats = statusOf(fileSystem, pathOf(row, folders))
    return stats !== null && sameStamp(stampOf(stats), row)
  }

  /** Hits of some queries; when a hit's file was changed by hand a moment ago, it is indexed and asked again. */
  const searchHits = (queries: readonly StoreQuery[], isSettled: boolean): ReturnType<typeof searchOnce> => {
    assertPresent()
    for (let attempt = 1; ; attempt++) {
      const found = searchOnce(queries, isSettled)
      const stale = found.hits.filter(({ row }) => !isCurrent(row, found.folders))
      if (stale.length === 0 || attempt === attempts) return found
      for (const { row } of stale) index.changed(shownPath(root, pathOf(row, found.folders)))
    }
  }

  const noticed = new Set<string>()

  /**
   * A list that silently lacks an unreadable file would pass for complete, so it fails; a search by words or meaning
   * returns what it can and reports which files it could not look at.
   *
   * @throws MemoryError UNAVAILABLE
   */
  const refuseUnread = (unread: ReturnType<SearchIndex['unread']>, query: StoreQuery): void => {
    for (const { folder, name, problem } of unread) {
      if (!mayHold(layout, folder, name, query)) continue
      if (query.text === undefined && !query.embedding)
        throw new MemoryError(problem, MemoryErrorCode.UNAVAILABLE, {
          details: { path: join(fromShown(root, folder), name) },
        })
      if (!noticed.has(problem)) onNotice(`not searched: ${problem}`)
      noticed.add(problem)
    }
  }

  /** Hits on one state of the index, and what their files hold; each file is read once. */
  const searchOnce = (queries: readonly StoreQuery[], isSettled: boolean) =>
    steadily(() =>
      index.query((current) => {
        if (queries.some(({ embedding }) => embedding)) vectors?.bringInStep(current)
        return current.snapshot(() => hitsIn(current, queries))
      }, isSettled),
    )

  /** Hits on a snapshot of the index. */
  const hitsIn = (current: SearchIndex, queries: readonly StoreQuery[]) => {
    const folders = new Map(current.folders().map(({ id, path }) => [id, path]))
    const read = createRowReader(folders)
    const unread = current.unread()
    const hits = queries.flatMap((query) => {
      refuseUnread(unread, query)
      let accesses: Map<string, { at: number; count: number }> | undefined
      const access: FileAccess = {
        value: (row) => read(row)?.value,
        accesses: () => {
          accesses ??= accessLog.all(query.scope, query.namespace)
          return accesses
        },
      }
      const meaning =
        query.embedding && vectors?.arm(current, query, Float32Array.from(query.embedding.vector))
      return searchDocuments(current, query, access, weights, meaning).map((hit) => ({
        ...hit,
        mode: modeOf(query, meaning !== undefined),
      }))
    })
    return { hits, folders, read, current }
  }

  const unitTexts: UnitTexts = () => {
    const read = createRowReader()
    return (row) => {
      const entry = read(row)
      return entry && unitsOf(entry).map(({ start, end }) => spokenText(entry.text.slice(start, end)))
    }
  }

  const vectors =
    options.embedder &&
    createVectorIndex({
      fileSystem,
      folder: internal,
      embedder: options.embedder,
      index,
      onNotice,
      exclusively,
      unitTexts,
    })

  const steadily = <T>(look: () => T): T => (vectors ? vectors.steadily(look) : look())

  /** Works without an embedder: the vectors' own header names their model. */
  function vectorCoverage(): Coverage | null {
    return unlessReplaced(() => {
      const header = readHeader(fileSystem, pathsIn(internal).rows)
      if (!header) return null
      return index.query((current) => {
        bringInStep(current, openKeptVectors(fileSystem, internal, header), unitTexts)
        return { model: header.model, ...current.vectorCounts() }
      })
    })
  }

  /** A vector reveals something of its text, so those of texts that are no longer in any file are dropped. */
  function forgetUnusedVectors(): void {
    if (!hasVectorFile(fileSystem, internal)) return
    const used = new Set<string>()
    index.query((current) => {
      for (const documents of everyText(current, unitTexts))
        for (const { hashes } of documents) for (const hash of hashes) used.add(hash)
    })
    exclusively(() => dropUnusedVectors(fileSystem, internal, used))
  }

  const refuseVectors = ({ embedding }: Pick<StoreQuery, 'embedding'>): void => {
    if (!embedding || vectors) return
    throw new MemoryError('this memory has no embedder: search by text', MemoryErrorCode.NOT_SUPPORTED)
  }

  const addressOfRow = (row: DocumentRow): Address => ({
    scope: memoryScopes[row.scope] as Address['scope'],
    namespace: row.namespace,
    key: row.key,
  })

  /** When to try making vectors again after it failed. */
  let retryVectorsAt = Number.NEGATIVE_INFINITY

  /** Where vectors cannot be made or stored, searches use words and the vectors that exist. */
  async function embedRecent(now: number): Promise<number> {
    if (!vectors || now < retryVectorsAt) return 0
    try {
      return await vectors.embedNewest(soonEmbedded)
    } catch (error) {
      const reason = isUnwritable(error) ? `${internal} cannot be written` : passingReason(error)
      if (reason === null) throw error
      retryVectorsAt = now + withoutVectorsMs
      const problem = `${reason}: what has no vector there is found by words, not by meaning`
      if (!noticed.has(problem)) onNotice(problem)
      noticed.add(problem)
      return 0
    }
  }

  async function find(query: StoreQuery): Promise<Found[]> {
    refuseVectors(query)
    await index.settle()
    recover()
    // What was written a moment ago is found by its meaning as well.
    if (query.embedding) await embedRecent(query.now)
    const { hits, folders, read } = searchHits([query], true)
    return hits.flatMap(({ row, units, score, confidence, signals, mode }): Found[] => {
      const file = read(row)
      if (!file) return []
      const entry = toEntry(addressOfRow(row), file)
      files.remember(entry, entry, query.now)
      if (mode === 'filter') return [{ entry, score, signals, mode }]
      const path = shownPath(root, pathOf(row, folders))
      const found = passages.fromEntry(path, file, units.slice(0, query.passages ?? 1))
      const [passage] = found
      return [
        {
          entry,
          score,
          ...(confidence === undefined ? {} : { confidence }),
          signals,
          mode,
          ...(passage ? { passage } : {}),
          ...(query.passages ? { passages: found } : {}),
        },
      ]
    })
  }

  function locate(query: Omit<StoreQuery, 'scope'>, scopes: readonly MemoryScope[]): LocatedHit[] {
    refuseVectors(query)
    recover()
    const { text, now } = query
    const asked = text === undefined ? query : { ...query, text: `${text} ${namedDates(text, now)}` }
    const { hits, folders, read, current } = searchHits(
      scopes.map((scope) => ({ ...asked, scope })),
      false,
    )
    return hits.map(({ row, units, score, confidence, signals, mode }) => ({
      ...passages.read(current, row, folders, units[0]?.unit ?? 0, () => read(row)),
      ...addressOfRow(row),
      type: row.type,
      score,
      ...(confidence === undefined ? {} : { confidence }),
      signals,
      mode,
      updated: row.updated,
      fields: row.fields === null ? null : (JSON.parse(row.fields) as JsonValue),
    }))
  }

  return { vectors, find, locate, embedRecent, forgetUnusedVectors, vectorCoverage, addressOfRow }
}

/**
 * Characters that a search embeds before it answers, some two seconds where the model runs slowly; more are left to the
 * next search and to `reindex`.
 */
const soonEmbedded = 6000

/** How long to wait after a vector could not be made or stored, in milliseconds. */
const withoutVectorsMs = 60_000

/** What a model says that cannot embed now, or refuses one of the texts; `null` for a failure that is none of these. */
const passingReason = (error: unknown): string | null =>
  isMemoryError(error) && errorStatus[error.code].retryable ? error.message : null

const modeOf = ({ text }: StoreQuery, byMeaning: boolean): SearchMode =>
  text === undefined ? (byMeaning ? 'semantic' : 'filter') : byMeaning ? 'hybrid' : 'lexical'

/** Looks at hits whose files keep changing at the same moment. */
const attempts = 5
