import { basename, dirname, join } from 'node:path'
import {
  type Address,
  type Change,
  type Clock,
  compareCodePoints,
  type Embedder,
  type Entry,
  equalJson,
  type Found,
  isEnvelope,
  isMemoryError,
  type JsonValue,
  MemoryError,
  MemoryErrorCode,
  type MemoryScope,
  type MemoryStore,
  memoryScopes,
  type PutOptions,
  type RankWeights,
  rankWeights,
  type SearchMode,
  type Selection,
  type StoreQuery,
} from '@recall/core'
import { type Access, createAccessLog } from './access-log.ts'
import { createFile, ensureFolder, removeFile, replaceFile, writing } from './atomic-write.ts'
import { createColdStore } from './cold/cold-store.ts'
import { printArchiveRow, withArchiveRow, withoutArchiveRow } from './documents/archive-index.ts'
import { printConversation } from './documents/conversation.ts'
import type { FileEntry } from './documents/file-entry.ts'
import { parseNote, printNote, requireValue } from './documents/note.ts'
import {
  requireSectionText,
  sectionEntries,
  sectionKey,
  withoutSection,
  withSection,
} from './documents/sections.ts'
import { windowEntries, withoutBlocks, withSession } from './documents/window.ts'
import { type FileSystem, orAbsent } from './file-system.ts'
import type { OpenDatabase } from './index/driver.ts'
import { sameStamp, stampOf } from './index/file-stamp.ts'
import { createMemoryIndex, type IndexProgress, missingRoot } from './index/memory-index.ts'
import { type DocumentRow, type SearchIndex, unitsOf } from './index/search-index.ts'
import { archiveFile, archiveName, type Layout } from './layout.ts'
import { createLock } from './lock.ts'
import { createPassageReader, type Passage } from './passages.ts'
import { fileStem, fromShown, isInside, ownFile, shownPath } from './paths.ts'
import { type Placement, placementOf, specialPlace } from './placement.ts'
import { readText } from './read-text.ts'
import type { FileAccess } from './row-filter.ts'
import { searchDocuments } from './search.ts'
import { type LocatedEntry, noteFolder, type Source, sourcesOf } from './sources.ts'
import { applyChanges, finishJournal, journalPath } from './transaction.ts'
import { createVectorIndex, type VectorIndex } from './vectors/vector-index.ts'
import { createWorkspace, type Workspace } from './workspace.ts'

export interface FileStoreOptions {
  /** Existing folder, with symbolic links already followed. */
  root: string
  layout: Layout
  fileSystem: FileSystem
  openDatabase: OpenDatabase
  clock: Clock
  onNotice: (text: string) => void
  /** Also finds by meaning, with vectors that it makes from the files and keeps beside the index. */
  embedder?: Embedder | undefined
  /** Weights of the ranking that differ from core's. */
  ranking?: Partial<RankWeights> | undefined
  /** How long to wait for another process that holds the lock. */
  lockTimeoutMs?: number
}

/** A hit with its place in the files, for people who search. */
export interface LocatedHit extends Passage {
  scope: MemoryScope
  key: string
  type: string | null
  score: number
  signals: Record<string, number>
  mode: SearchMode
  updated: number
  /** Front matter of an archive, members of a small value. */
  fields: JsonValue
}

export interface FileStore extends MemoryStore {
  readonly root: string
  readonly layout: Layout
  /**
   * Searches some scopes without reading whole values: where each match is and what stands there. The best of
   * each scope, scope by scope.
   */
  locate(query: Omit<StoreQuery, 'scope'>, scopes: readonly MemoryScope[]): LocatedHit[]
  /** Brings the index up to date (`full`: builds it anew). */
  reindex(options: { full: boolean; onProgress?: (progress: IndexProgress) => void }): void
  /** Runs a section under the memory's lock, after finishing what a dead process began. */
  exclusively<T>(section: () => T): T
  index: ReturnType<typeof createMemoryIndex>
  /** Set when the store was given an embedder. */
  vectors?: VectorIndex
}

/** Units that a search embeds before it answers; more are left to `reindex`. */
const soonEmbedded = 64

/** Who speaks is in the label of a turn; its vector is of what was said. */
const withoutRole = (text: string): string => text.replace(/^### (?:User|Assistant)\n\s*/, '')

const modeOf = ({ text }: StoreQuery, byMeaning: boolean): SearchMode =>
  text === undefined ? (byMeaning ? 'semantic' : 'filter') : byMeaning ? 'hybrid' : 'lexical'

/** Attempts to write a shared file that somebody keeps editing at the same moment. */
const attempts = 5

export function createFileStore(options: FileStoreOptions): FileStore {
  const { root, layout, fileSystem, openDatabase, onNotice } = options
  const weights = { ...rankWeights, ...options.ranking }
  const internal = join(root, layout.internal)
  const accessLog = createAccessLog(fileSystem, openDatabase, internal, onNotice)
  const lock = createLock(fileSystem, openDatabase, internal, options.lockTimeoutMs)
  const index = createMemoryIndex({
    fileSystem,
    root,
    layout,
    openDatabase,
    onNotice,
    slidExpiry: accessLog.slidExpiry,
    exclusively: (section) => lock.hold(section),
  })
  const passages = createPassageReader(fileSystem, root)
  const recent = new Map<string, { created: number; updated: number; ttl: number | null }>()
  const paths = {
    window: join(root, layout.window),
    archiveIndex: join(root, layout.archiveIndex),
    archives: join(root, layout.archives),
  }
  const memoryDevice = (): number | undefined =>
    orAbsent(() => fileSystem.lstatSync(join(root, layout.memory)))?.dev
  let device = memoryDevice()

  /** Absence means nothing when the whole memory is away: its disk may just not be mounted. */
  const assertPresent = (): void => {
    const now = memoryDevice()
    if (now !== device && device !== undefined) throw missingRoot(join(root, layout.memory))
    if (now === undefined && !fileSystem.existsSync(root)) throw missingRoot(root)
    device = now
  }

  const notePath = ({ namespace, scope, key }: Address): string => {
    const folder = fromShown(root, noteFolder(layout, namespace, scope))
    const path = join(folder, `${fileStem(key)}.md`)
    if (fileStem(key) === key || fileSystem.existsSync(path)) return path
    // People name their files as they like.
    return ownFile(fileSystem, folder, key) ?? path
  }

  /** Reads a file, but none that a link puts into the memory. */
  const read = (path: string): ReturnType<typeof readText> =>
    isInside(fileSystem, root, dirname(path)) ? readText(fileSystem, path) : null

  const readNote = (address: Address): FileEntry | null => {
    const path = notePath(address)
    const file = read(path)
    if (!file) return null
    const entry = parseNote(file.content, basename(path, '.md'), {
      modified: Math.round(file.stamp.modified),
    })
    return entry.key === address.key ? entry : null
  }

  /** What cannot be read at the moment may be just what is asked for. */
  const assertReadable = (current: SearchIndex, concerns: (name: string) => boolean): void => {
    const unreadable = current.unreadable().find(({ name }) => concerns(name))
    if (!unreadable) return
    const path = join(fromShown(root, unreadable.folder), unreadable.name)
    throw new MemoryError(unreadable.problem, MemoryErrorCode.UNAVAILABLE, { details: { path } })
  }

  /** Where the archive of a session is, looked up in the index and verified by the file itself. */
  const archivePath = (key: string): string | null => {
    const current = index.fresh()
    const row = current.byKey('episodic', 'default', key)
    if (row) return pathOf(row)
    assertReadable(current, (name) => archiveFile.test(name))
    return null
  }

  const folderPaths = (): Map<number, string> =>
    new Map(
      index
        .asIs()
        .folders()
        .map(({ id, path }) => [id, path]),
    )
  const pathOf = (row: DocumentRow, folders = folderPaths()): string =>
    join(fromShown(root, folders.get(row.folder) ?? ''), row.name)

  const readSpecial = (address: Address): FileEntry | null => {
    const place = specialPlace(address)
    if (place === null) return null
    const path =
      place === 'section'
        ? sectionPath(address.key)
        : place === 'window'
          ? paths.window
          : archivePath(address.key) // prettier-ignore
    const file = path === null ? null : read(path)
    if (!file || path === null) return null
    const times = { modified: Math.round(file.stamp.modified) }
    if (place === 'section') return byKey(sectionEntries(file.content, basename(path), times), address.key)
    if (place === 'window') return byKey(windowEntries(file.content, times), address.key)
    const source = sourcesOf(fileSystem, root, layout).find(
      (each) => each.path === shownPath(root, dirname(path)),
    )
    const [entry] = source?.parse(basename(path), file.content, times) ?? []
    return entry ? { ...entry, key: address.key } : null
  }

  /** The curated file that a key names; `null` for the files that the session lifecycle keeps. */
  const sectionPath = (key: string): string | null => {
    const path = join(root, layout.memory, sectionKey.exec(key)?.[1] as string)
    const kept = [paths.window, paths.archiveIndex].map((each) => each.toLowerCase())
    return kept.includes(path.toLowerCase()) ? null : path
  }

  const readEntry = (address: Address): FileEntry | null => readSpecial(address) ?? readNote(address)

  const toEntry = (address: Address, file: FileEntry): Entry => {
    const access = accessLog.read(address, file)
    const entry = toMemoryEntry(address, file, access)
    remember(address, entry)
    return entry
  }

  const remember = (address: Address, { createdAt, updatedAt, ttl }: Entry): void => {
    if (recent.size > 2000) recent.clear()
    recent.set(addressName(address), { created: createdAt, updated: updatedAt, ttl })
  }

  const live = (address: Address, now: number): Entry | null => {
    const file = readEntry(address)
    if (!file) return null
    const entry = toEntry(address, file)
    return isExpired(entry, now) ? null : entry
  }

  /** Finishes what a dead process began, before anything else is written. */
  const recover = (): void => {
    if (!fileSystem.existsSync(journalPath(internal))) return
    lock.hold(() => {
      const done = finishJournal(fileSystem, root, internal)
      for (const path of done) {
        index.changing(path)
        index.changed(path)
      }
    })
  }

  const exclusively = <T>(section: () => T): T =>
    lock.hold(() => {
      recover()
      return section()
    })

  const prepareFolder = (folder: string): void => {
    assertPresent()
    if (!isInside(fileSystem, root, folder)) {
      writing(folder, () => ensureFolder(fileSystem, folder))
      isInside(fileSystem, root, folder)
      device = memoryDevice()
    }
  }

  /** Lets the index know of a change to a file. */
  const changing = (path: string, change: () => void): void => {
    const shown = shownPath(root, path)
    index.changing(shown)
    try {
      change()
    } finally {
      // Also when it failed: the new file may stand although its folder could not be synced.
      index.changed(shown)
    }
  }

  const putNote = (entry: Entry, { overwrite, now }: PutOptions): void => {
    const path = notePath(entry)
    recover()
    prepareFolder(dirname(path))
    if (!overwrite) {
      let created = false
      changing(path, () => {
        created = createFile(fileSystem, path, printNote(entry))
      })
      if (created) return
    }
    const write = (): void => {
      const earlier = readNote(entry)
      if (!earlier) refuseForeignFile(path, entry)
      const known = earlier && toEntry(entry, earlier)
      const alive = known && !isExpired(known, now)
      if (alive && !overwrite) throw conflict(entry)
      const content = printNote(alive ? { ...entry, createdAt: known.createdAt } : entry)
      changing(path, () => replaceFile(fileSystem, path, content))
    }
    // Only one of several writers may find the key free.
    if (overwrite) write()
    else exclusively(write)
  }

  /** A file of that name which holds another key would be lost. */
  const refuseForeignFile = (path: string, { scope, key }: Address): void => {
    if (!fileSystem.existsSync(path)) return
    const message = `${path} already holds another memory than '${key}': rename that file`
    throw new MemoryError(message, MemoryErrorCode.CONFLICT, { scope, key, details: { path } })
  }

  const planPut = (workspace: Workspace, entry: Entry, { overwrite, now }: PutOptions): void => {
    const placement = placementOf(entry)
    if (!overwrite && live(entry, now)) throw conflict(entry)
    if (placement.kind === 'note') {
      planRemoveSpecial(workspace, entry)
      planNote(workspace, entry, now)
    } else {
      planRemoveNote(workspace, entry)
      planDocument(workspace, entry, placement)
    }
  }

  const planNote = (workspace: Workspace, entry: Entry, now: number): void => {
    const path = notePath(entry)
    const earlier = live(entry, now)
    if (workspace.exists(path) && !readNote(entry)) refuseForeignFile(path, entry)
    workspace.write(path, printNote(earlier ? { ...entry, createdAt: earlier.createdAt } : entry))
  }

  const planDocument = (
    workspace: Workspace,
    entry: Entry,
    placement: Exclude<Placement, { kind: 'note' }>,
  ): void => {
    if (placement.kind === 'section') {
      const path = sectionPath(entry.key)
      if (path === null) {
        throw new MemoryError(
          `${placement.fileName} is kept by the session lifecycle: choose another file`,
          MemoryErrorCode.INVALID_INPUT,
          { scope: entry.scope, key: entry.key },
        )
      }
      if (entry.tags.length > 0) {
        throw new MemoryError(
          `'${entry.key}' is a section of a markdown file, which carries no tags`,
          MemoryErrorCode.INVALID_INPUT,
          { scope: entry.scope, key: entry.key },
        )
      }
      const text = requireSectionText(entry.value, entry.key)
      workspace.write(path, withSection(workspace.read(path), placement.slug, text))
    } else if (placement.kind === 'session') {
      const archive = archivePath(placement.session.archive)
      const pointer = archive ? shownPath(dirname(paths.window), archive) : placement.session.archive
      workspace.write(paths.window, withSession(workspace.read(paths.window), placement.session, pointer))
    } else planArchive(workspace, placement.archive, entry.key)
  }

  const planArchive = (workspace: Workspace, archive: ConversationArchiveOf, key: string): void => {
    const known = archivePath(key)
    let number = known
      ? Number(archiveFile.exec(basename(known))?.[1])
      : index.fresh().lastArchiveNumber() + 1
    let path = known ?? join(paths.archives, archiveName(layout, number))
    while (!known && workspace.exists(path)) path = join(paths.archives, archiveName(layout, ++number))
    if (known) workspace.read(path)
    workspace.write(path, printConversation(archive, number))
    const table = withArchiveRow(workspace.read(paths.archiveIndex), number, printArchiveRow(archive, number))
    workspace.write(paths.archiveIndex, table)
  }

  const planRemove = (workspace: Workspace, address: Address): boolean => {
    const special = planRemoveSpecial(workspace, address)
    return planRemoveNote(workspace, address) || special
  }

  const planRemoveNote = (workspace: Workspace, address: Address): boolean => {
    const path = notePath(address)
    if (!workspace.exists(path) || !readNote(address)) return false
    workspace.write(path, null)
    return true
  }

  const planRemoveSpecial = (workspace: Workspace, { scope, namespace, key }: Address): boolean => {
    const place = specialPlace({ scope, namespace, key })
    if (place === 'archive') return planRemoveArchive(workspace, key)
    const path = place === 'section' ? sectionPath(key) : place === 'window' ? paths.window : null
    if (path === null) return false
    const content = workspace.read(path)
    const without =
      place === 'section'
        ? withoutSection(content, sectionKey.exec(key)?.[2] as string)
        : withoutBlocks(content, (each) => each !== key)
    if (without !== null) workspace.write(path, without)
    return without !== null
  }

  const planRemoveArchive = (workspace: Workspace, key: string): boolean => {
    const path = archivePath(key)
    if (!path || !workspace.exists(path)) return false
    workspace.write(path, null)
    const table = workspace.read(paths.archiveIndex)
    const without = withoutArchiveRow(table, Number(archiveFile.exec(basename(path))?.[1]))
    if (without !== table) workspace.write(paths.archiveIndex, without)
    return true
  }

  /** Refuses a change of an entry that somebody wrote since its caller read it. */
  const assertExpected = (workspace: Workspace, changes: readonly Change[]): void => {
    for (const { expected, ...change } of changes) {
      if (!expected) continue
      const address = 'put' in change ? change.put : change.remove
      // Noted before the look: whoever writes between the look and the change is noticed when it is applied.
      for (const path of filesOf(address)) workspace.read(path)
      const file = readEntry(address)
      const isThere =
        file?.updated === expected.updatedAt &&
        (expected.value === undefined || equalJson(file.value, expected.value))
      if (!isThere) throw changedUnderneath(address)
    }
  }

  const filesOf = (address: Address): string[] => {
    const place = specialPlace(address)
    const special =
      place === 'section'
        ? sectionPath(address.key)
        : place === 'window'
          ? paths.window
          : place === 'archive'
            ? archivePath(address.key)
            : null
    return [notePath(address), ...(special === null ? [] : [special])]
  }

  /** Plans on a workspace and applies it; plans anew when somebody edited a file in the meantime. */
  const change = <T>(plan: (workspace: Workspace) => T): T =>
    exclusively(() => {
      assertPresent()
      for (let attempt = 1; ; attempt++) {
        const workspace = createWorkspace(fileSystem)
        const result = plan(workspace)
        const changes = workspace.changes()
        for (const { path, content } of changes) if (content !== null) prepareFolder(dirname(path))
        for (const { path } of changes) index.changing(shownPath(root, path))
        try {
          applyChanges(fileSystem, root, internal, changes, workspace.assertUnchanged)
        } catch (error) {
          if (isMemoryError(error, MemoryErrorCode.CONFLICT) && attempt < attempts) continue
          throw error
        } finally {
          for (const { path } of changes) index.changed(shownPath(root, path))
        }
        return result
      }
    })

  /** Reads what a row of the index stands for; `null` when the file no longer says so. */
  const readRow = (row: DocumentRow, folders: Map<number, string>): LocatedEntry | null => {
    const file = readText(fileSystem, pathOf(row, folders))
    if (!file) return null
    const source = sourceOf(folders.get(row.folder) ?? '')
    const entries = source?.parse(row.name, file.content, { modified: Math.round(file.stamp.modified) }) ?? []
    const own = row.key.split('@')[0]
    return entries.find(({ key }) => key === row.key) ?? entries.find(({ key }) => key === own) ?? null
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
    const stats = orAbsent(() => fileSystem.lstatSync(pathOf(row, folders)))
    return stats !== null && sameStamp(stampOf(stats), row)
  }

  /** Hits of some queries; when a hit's file was changed by hand a moment ago, it is indexed and asked again. */
  const searchHits = (queries: readonly StoreQuery[]): ReturnType<typeof searchOnce> => {
    assertPresent()
    for (let attempt = 1; ; attempt++) {
      const found = searchOnce(queries)
      const stale = found.hits.filter(({ row }) => !isCurrent(row, found.folders))
      if (stale.length === 0 || attempt === attempts) return found
      for (const { row } of stale) index.changed(shownPath(root, pathOf(row, found.folders)))
    }
  }

  /** Hits on one state of the index, and what their files hold; each file is read once. */
  const searchOnce = (queries: readonly StoreQuery[]) =>
    index.query((current) => {
      const folders = new Map(current.folders().map(({ id, path }) => [id, path]))
      const files = new Map<number, ReturnType<typeof readRow>>()
      const read = (row: DocumentRow): ReturnType<typeof readRow> => {
        const known = files.get(row.id)
        if (known !== undefined) return known
        const file = readRow(row, folders)
        files.set(row.id, file)
        return file
      }
      const hits = queries.flatMap((query) => {
        let accesses: Map<string, { at: number; count: number }> | undefined
        const access: FileAccess = {
          value: (row) => read(row)?.value,
          accesses: () => {
            accesses ??= accessLog.all(query.scope, query.namespace)
            return accesses
          },
        }
        const meaning =
          query.embedding && vectors?.arm(current, query.scope, Float32Array.from(query.embedding.vector))
        return searchDocuments(current, query, access, weights, meaning).map((hit) => ({
          ...hit,
          mode: modeOf(query, meaning !== undefined),
        }))
      })
      return { hits, folders, read, current }
    })

  const vectors =
    options.embedder &&
    createVectorIndex({
      fileSystem,
      folder: internal,
      embedder: options.embedder,
      index,
      exclusively: (section) => lock.hold(section),
      unitTexts(row) {
        const entry = readRow(row, folderPaths())
        return entry && unitsOf(entry).map(({ start, end }) => withoutRole(entry.text.slice(start, end)))
      },
    })

  const refuseVectors = ({ embedding }: Pick<StoreQuery, 'embedding'>): void => {
    if (!embedding || vectors) return
    throw new MemoryError('this memory has no embedder: search by text', MemoryErrorCode.NOT_SUPPORTED)
  }

  const addressOfRow = (row: DocumentRow): Address => ({
    scope: memoryScopes[row.scope] as Address['scope'],
    namespace: row.namespace,
    key: row.key,
  })

  return {
    name: 'file',
    capabilities: { durable: true, semantic: false, meaning: vectors !== undefined },
    ...(vectors ? { vectors } : {}),
    root,
    layout,
    index,
    exclusively,
    cold: createColdStore({ fileSystem, root, folder: layout.cold, exclusively }),

    async put(entry, putOptions) {
      const placement = placementOf(entry)
      if (placement.kind === 'note' && specialPlace(entry) === null) putNote(entry, putOptions)
      else change((workspace) => planPut(workspace, entry, putOptions))
    },

    async get(address, now) {
      recover()
      const entry = readEntry(address)
      if (!entry) {
        assertPresent()
        return null
      }
      const checked = requireValue(entry, shownPath(root, notePath(address)))
      const found = toEntry(address, checked)
      return isExpired(found, now) ? null : found
    },

    async find(query) {
      refuseVectors(query)
      await index.settle()
      recover()
      // What was written a moment ago is found by its meaning as well.
      if (query.embedding) await vectors?.catchUp({ limit: soonEmbedded })
      const { hits, folders, read } = searchHits([query])
      return hits.flatMap(({ row, units, score, signals, mode }): Found[] => {
        const file = read(row)
        if (!file) return []
        const entry = toEntry(addressOfRow(row), file)
        if (mode === 'filter') return [{ entry, score, signals, mode }]
        const path = shownPath(root, pathOf(row, folders))
        const found = passages.fromEntry(path, file, units.slice(0, query.passages ?? 1))
        const [passage] = found
        return [
          {
            entry,
            score,
            signals,
            mode,
            ...(passage ? { passage } : {}),
            ...(query.passages ? { passages: found } : {}),
          },
        ]
      })
    },

    locate(query, scopes) {
      refuseVectors(query)
      recover()
      const { hits, folders, read, current } = searchHits(scopes.map((scope) => ({ ...query, scope })))
      return hits.map(({ row, units, score, signals, mode }) => ({
        ...passages.read(current, row, folders, units[0]?.unit ?? 0, () => read(row)),
        ...addressOfRow(row),
        type: row.type,
        score,
        signals,
        mode,
        updated: row.updated,
        fields: row.fields === null ? null : (JSON.parse(row.fields) as JsonValue),
      }))
    },

    async touch(addresses, now) {
      const accesses = addresses.flatMap((address) => {
        let version = recent.get(addressName(address))
        if (!version) {
          const entry = live(address, now)
          if (!entry) return []
          version = { created: entry.createdAt, updated: entry.updatedAt, ttl: entry.ttl }
        }
        const { created, updated, ttl } = version
        return [{ address, version: { created, updated }, expires: ttl === null ? null : now + ttl }]
      })
      if (accesses.length === 0) return
      accessLog.record(accesses, now)
      const sliding = accesses.filter(({ expires }) => expires !== null)
      if (sliding.length === 0) return
      index.flush()
      const current = index.asIs()
      current.transaction(() => {
        for (const { address, expires } of sliding) {
          current.slideExpiry(address.scope, address.namespace, address.key, expires as number)
        }
      })
    },

    async remove(address) {
      if (specialPlace(address) !== null) {
        const removed = change((workspace) => planRemove(workspace, address))
        accessLog.forget(address)
        return removed
      }
      recover()
      assertPresent()
      const path = notePath(address)
      if (!readNote(address)) return false
      let removed = false
      changing(path, () => {
        removed = removeFile(fileSystem, path)
      })
      accessLog.forget(address)
      return removed
    },

    async removeAll(selection) {
      const addresses = selectAll(selection)
      change((workspace) => {
        for (const address of lastFirst(addresses)) planRemove(workspace, address)
      })
      for (const address of addresses) accessLog.forget(address)
      return addresses.length
    },

    async commit(changes) {
      assertOnce(changes)
      change((workspace) => {
        assertExpected(workspace, changes)
        for (const each of changes) if ('put' in each) planPut(workspace, each.put, each.options)
        const removed = changes.flatMap((each) => ('put' in each ? [] : each.remove))
        for (const address of lastFirst(removed)) planRemove(workspace, address)
      })
    },

    async sweep({ scope, namespace, now, dryRun }) {
      recover()
      assertPresent()
      const rows = index.query((current) => current.expired(scope, namespace, now))
      let count = 0
      for (const address of rows.map(addressOfRow)) {
        // The file decides, not the index: nothing is deleted on a guess.
        const file = readNote(address)
        if (!file || !isExpired(toEntry(address, file), now)) continue
        count++
        if (dryRun) continue
        exclusively(() => {
          const current = readNote(address)
          if (!current || !isExpired(toEntry(address, current), now)) return
          changing(notePath(address), () => removeFile(fileSystem, notePath(address)))
        })
        accessLog.forget(address)
      }
      return count
    },

    async stats({ scope, namespace }) {
      return index.query((current) => current.usage(scope, namespace))
    },

    async stamp(address) {
      // Of sections, the window and conversations several share a file, or the index knows where they are.
      if (specialPlace(address) !== null) return null
      const stats = orAbsent(() => fileSystem.lstatSync(notePath(address)))
      return stats && `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`
    },

    reindex({ full, onProgress }) {
      recover()
      if (!fileSystem.existsSync(root)) throw missingRoot(root)
      if (full) index.rebuild(onProgress)
      else index.update()
    },

    async close() {
      index.close()
      accessLog.close()
      lock.close()
    },
  }

  function selectAll({ scope, namespace, updatedBefore, tags = [], type }: Selection): Address[] {
    recover()
    assertPresent()
    return index.query((current) => {
      assertReadable(current, () => true)
      const found: Address[] = []
      for (const row of current.list({ scope, namespace, tags, now: Number.NEGATIVE_INFINITY }, 'desc')) {
        if (updatedBefore !== undefined && row.updated >= updatedBefore) continue
        if (type !== undefined && row.type !== type) continue
        found.push(addressOfRow(row))
      }
      return found
    })
  }
}

type ConversationArchiveOf = Extract<Placement, { kind: 'archive' }>['archive']

const byKey = (entries: FileEntry[], key: string): FileEntry | null =>
  entries.find((entry) => entry.key === key) ?? null

const addressName = ({ scope, namespace, key }: Address): string => `${scope}\u0000${namespace}\u0000${key}`

const isExpired = ({ expiresAt }: Entry, now: number): boolean => expiresAt !== null && expiresAt <= now

const conflict = ({ scope, key }: Address): MemoryError =>
  new MemoryError(
    `'${key}' already exists in ${scope} memory: pass overwrite: true to replace it`,
    MemoryErrorCode.CONFLICT,
    { scope, key },
  )

const changedUnderneath = ({ scope, key }: Address): MemoryError =>
  new MemoryError(
    `'${key}' in ${scope} memory was written or deleted by somebody else meanwhile: read it again`,
    MemoryErrorCode.CONFLICT,
    { scope, key },
  )

function toMemoryEntry(address: Address, file: FileEntry, access: Access | null): Entry {
  const value: JsonValue = file.value
  return {
    scope: address.scope,
    namespace: address.namespace,
    key: address.key,
    value,
    text: file.text,
    type: file.type,
    tags: file.tags,
    createdAt: file.created,
    updatedAt: file.updated,
    accessedAt: access?.at ?? file.created,
    accessCount: access?.count ?? 0,
    ttl: file.ttl,
    expiresAt: file.expires === null ? null : (access?.expires ?? file.expires),
    encrypted: isEnvelope(value),
    embedding: null,
  }
}

/** Of sections with the same heading the later ones are numbered: when one goes, those after it move up. */
const lastFirst = (addresses: readonly Address[]): Address[] =>
  [...addresses].sort((a, b) => b.key.length - a.key.length || compareCodePoints(b.key, a.key))

function assertOnce(changes: readonly Change[]): void {
  const names = changes.map((each) => addressName('put' in each ? each.put : each.remove))
  if (new Set(names).size === names.length) return
  throw new MemoryError('a key may stand only once in a batch', MemoryErrorCode.INVALID_INPUT)
}
