import {
  type Address,
  type Found,
  type JsonValue,
  MemoryError,
  MemoryErrorCode,
  type MemoryScope,
  memoryScopes,
  type Place,
  type SearchMode,
  type StoreQuery,
} from '@recall/core'
import {
  namedDates,
  type RankedUnit,
  type RankWeights,
  scaledSignals,
  surestFirst,
  tellingShare,
  withinMatch,
} from '@recall/core/ranking'
import type { MemoryAccess } from '../access.ts'
import { type AccessLog, accessTo } from '../entries/access-log.ts'
import type { EntryFiles } from '../entries/entry-files.ts'
import { neverRead, sameStamp, stampOf } from '../files/file-stamp.ts'
import { type FileSystem, statusOf } from '../files/file-system.ts'
import { shownPath } from '../files/paths.ts'
import type { Layout } from '../layout/layout.ts'
import { mayHold } from '../layout/sources.ts'
import type { DocumentRow } from '../search-index/document-row.ts'
import type { MemoryIndex } from '../search-index/memory-index.ts'
import type { SearchIndex } from '../search-index/search-index.ts'
import type { MemoryVectors } from '../vectors/memory-vectors.ts'
import { createPassageReader, type PlacedPassage } from './passages.ts'
import type { FileAccess } from './row-filter.ts'
import type { CreateRowReader } from './row-reader.ts'
import { searchDocuments } from './search.ts'

/** A query of `locate`, in one or more scopes. */
export type LocateQuery = Omit<StoreQuery, 'scope' | 'offset' | 'sortBy' | 'sortOrder'>

/** A matching place in the files, for people who search. */
export interface LocatedHit extends PlacedPassage {
  scope: MemoryScope
  key: string
  type: string | null
  score: number
  /** How likely the memory knows the answer; absent when the query has no text. */
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
  vectors: MemoryVectors
  createRowReader: CreateRowReader
  onNotice: (text: string) => void
  weights: RankWeights
  access: MemoryAccess
  /** Tells the index of expiries that slid without it. */
  catchUpExpiries(index: SearchIndex, now: number): void
}

/** Searches the files: finds hits in the index, verifies them against the files, and adds the passages that match. */
export function createFileSearch(options: FileSearchOptions) {
  const { root, layout, fileSystem, index, accessLog, files, createRowReader, weights, onNotice } = options
  const { recover, assertPresent } = options.access
  const { pathOf, toEntry } = files
  const { vectors, embedRecent } = options.vectors
  const passages = createPassageReader(fileSystem, root)

  /** Whether a hit's file is still as it was indexed, before this search or, where its stamp may not tell, by it. */
  const isCurrent = (row: DocumentRow, folders: Map<number, string>, isFirstLook: boolean): boolean => {
    const stats = statusOf(fileSystem, pathOf(row, folders))
    if (stats === null) return false
    const stamp = stampOf(stats)
    return sameStamp(
      stamp,
      isFirstLook || row.changed !== neverRead ? row : { ...row, changed: stamp.changed },
    )
  }

  /**
   * Hits of some queries; when a hit's file was changed by hand a moment ago, it is indexed and the search runs again.
   */
  const searchHits = (queries: readonly StoreQuery[], isSettled: boolean): ReturnType<typeof searchOnce> => {
    assertPresent()
    for (let attempt = 1; ; attempt++) {
      const found = searchOnce(queries, isSettled)
      const stale = found.hits.filter(({ row }) => !isCurrent(row, found.folders, attempt === 1))
      if (stale.length === 0 || attempt === attempts) return found
      for (const { row } of stale) index.changed(shownPath(root, pathOf(row, found.folders)))
    }
  }

  const noticed = new Set<string>()
  const neverUsed = { at: 0, count: 0 }

  const unreadOf =
    (place: Place) =>
    ({ folder, name }: Pick<Unread[number], 'folder' | 'name'>): boolean =>
      mayHold(layout, folder, name, place)

  const notSearched = (place: Place): string[] => {
    const unread = index.query((current) => current.unread())
    return unread.filter(unreadOf(place)).map(({ problem }) => problem)
  }

  /**
   * A list that silently lacks an unreadable file would pass for complete, so it fails; a search by words or meaning
   * returns what it can and reports which files it could not look at.
   *
   * @throws MemoryError UNAVAILABLE
   */
  const tellUnread = (unread: Unread, query: StoreQuery): void => {
    const mayHoldMatches = unreadOf(query)
    if (query.text === undefined && !query.embedding) files.refuseUnread(unread, mayHoldMatches)
    for (const { problem } of unread.filter(mayHoldMatches)) {
      if (!noticed.has(problem)) onNotice(`not searched: ${problem}`)
      noticed.add(problem)
    }
  }

  /** Hits on one state of the index, and the content of their files; each file is read once. */
  const searchOnce = (queries: readonly StoreQuery[], isSettled: boolean) =>
    steadily(() =>
      index.query((current) => {
        options.catchUpExpiries(current, Math.max(...queries.map(({ now }) => now)))
        if (queries.some(({ embedding }) => embedding)) vectors?.bringInStep(current)
        return current.snapshot(() => hitsIn(current, queries))
      }, isSettled),
    )

  /** Hits on a snapshot of the index. */
  const hitsIn = (current: SearchIndex, queries: readonly StoreQuery[]) => {
    const folders = current.folderPaths()
    const read = createRowReader(folders)
    const unread = current.unread()
    const hits = queries.flatMap((query) => {
      tellUnread(unread, query)
      let accesses: ReturnType<typeof accessLog.all> | undefined
      const access: FileAccess = {
        value: (row) => read(row)?.value,
        use(row) {
          accesses ??= accessLog.all(query.scope, query.namespace)
          return accessTo(accesses.get(row.key), row) ?? neverUsed
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

  const steadily = <T>(look: () => T): T => (vectors ? vectors.steadily(look) : look())

  const refuseVectors = ({ embedding }: Pick<StoreQuery, 'embedding'>): void => {
    if (!embedding || vectors) return
    throw new MemoryError('this memory has no embedder: search by text', MemoryErrorCode.NOT_SUPPORTED)
  }

  const addressOfRow = (row: DocumentRow): Address => ({
    scope: memoryScopes[row.scope] as Address['scope'],
    namespace: row.namespace,
    key: row.key,
  })

  async function find(query: StoreQuery): Promise<Found[]> {
    refuseVectors(query)
    await index.settle()
    recover()
    // Recent writes must be found by meaning as well.
    if (query.embedding) await embedRecent(query.now)
    const { hits, folders, read } = searchHits([query], true)
    return hits.flatMap(({ row, units, score, confidence, signals, mode }): Found[] => {
      const file = read(row)
      if (!file) return []
      const entry = toEntry(addressOfRow(row), file)
      files.remember(entry, entry, query.now)
      if (mode === 'filter') return [{ entry, score, signals, mode }]
      const path = shownPath(root, pathOf(row, folders))
      const best = units.slice(0, query.passages ?? 1)
      const found = passages.fromEntry(
        path,
        file,
        best.map((each) => ({ unit: each.unit, ...withinMatch({ score, confidence }, each) })),
      )
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

  function locate(query: LocateQuery, scopes: readonly MemoryScope[]): LocatedHit[] {
    refuseVectors(query)
    recover()
    const { text, now } = query
    const asked = {
      ...query,
      ...(text === undefined ? {} : { text: `${text} ${namedDates(text, now)}` }),
      ...bestFirst,
    }
    const { hits, folders, read, current } = searchHits(
      scopes.map((scope) => ({ ...asked, scope })),
      false,
    )
    const places = hits.flatMap(({ units, ...hit }) =>
      units
        .slice(0, query.passages ?? 1)
        .filter((found, i) => i === 0 || (found.score >= tellingShare * hit.score && isFoundByItself(found)))
        .map(({ unit, signals, ...found }) => {
          const within = withinMatch(hit, found)
          // A hit whose score a later step capped caps its places and their signals, too.
          return { ...hit, unit, ...within, signals: scaledSignals(signals, within.score / found.score) }
        }),
    )
    const best = places.sort(surestFirst).slice(0, query.limit)
    return best.map(({ row, unit, ...place }) => ({
      ...passages.read(current, row, folders, unit, () => read(row)),
      ...addressOfRow(row),
      ...place,
      type: row.type,
      updated: row.updated,
      fields: row.fields === null ? null : (JSON.parse(row.fields) as JsonValue),
    }))
  }

  return { find, locate, notSearched, addressOfRow }
}

type Unread = ReturnType<SearchIndex['unread']>

const bestFirst = { sortBy: 'relevance', sortOrder: 'desc', offset: 0 } as const

/** And not only because of its neighbours. */
const isFoundByItself = ({
  signals: { words = 0, meaning = 0 },
}: Pick<RankedUnit<unknown>, 'signals'>): boolean => words + meaning > 0

const modeOf = ({ text }: StoreQuery, byMeaning: boolean): SearchMode =>
  text === undefined ? (byMeaning ? 'semantic' : 'filter') : byMeaning ? 'hybrid' : 'lexical'

/** How often to search when the files of the hits keep changing at the same moment. */
const attempts = 5
