import { basename, dirname, join } from 'node:path'
import {
  type Address,
  conversationKey,
  type Entry,
  type Expected,
  isEnvelope,
  type JsonValue,
  MemoryError,
  MemoryErrorCode,
} from '@recall/core'
import { searchableText } from '@recall/core/json'
import { isExpired } from '@recall/core/stores'
import { sessionInRow, sessionsInTable } from '../documents/archive-index.ts'
import type { FileEntry } from '../documents/file-entry.ts'
import { parseFrontMatter } from '../documents/front-matter.ts'
import { parseNote } from '../documents/note.ts'
import { sectionOf } from '../documents/sections.ts'
import { windowEntries } from '../documents/window.ts'
import { type FileSystem, statusOf } from '../files/file-system.ts'
import { fileStem, fromShown, isInside, isSpelledSo, ownFile, shownPath } from '../files/paths.ts'
import { readText } from '../files/read-text.ts'
import { archiveFile, archiveNumber, type Layout } from '../layout/layout.ts'
import { specialPlace } from '../layout/placement.ts'
import { defaultNamespace, noteFolder, sourcesOf } from '../layout/sources.ts'
import type { DocumentRow } from '../search-index/document-row.ts'
import type { MemoryIndex } from '../search-index/memory-index.ts'
import type { SearchIndex } from '../search-index/search-index.ts'
import type { Access, AccessLog } from './access-log.ts'
import { createSectionReader } from './section-reader.ts'

export interface EntryFilesOptions {
  /** Existing folder, with symbolic links already followed. */
  root: string
  layout: Layout
  fileSystem: FileSystem
  index: MemoryIndex
  accessLog: AccessLog
}

interface ReadVersion {
  created: number
  updated: number
  ttl: number | null
}

/** Locates each entry in the files, and reads it. */
export type EntryFiles = ReturnType<typeof createEntryFiles>

export function createEntryFiles({ root, layout, fileSystem, index, accessLog }: EntryFilesOptions) {
  /** Entries that were read, by address, with the time of the call that read them. */
  const recent = new Map<string, ReadVersion & { at: number }>()
  const paths = {
    window: join(root, layout.window),
    archiveIndex: join(root, layout.archiveIndex),
    archives: join(root, layout.archives),
  }

  const readSection = createSectionReader()

  const notePath = ({ namespace, scope, key }: Address): string => {
    const folder = fromShown(root, noteFolder(layout, namespace, scope))
    const path = join(folder, `${fileStem(key)}.md`)
    if (fileStem(key) === key || fileSystem.existsSync(path)) return path
    // People name their files as they like.
    return ownFile(fileSystem, folder, key) ?? path
  }

  /** Reads a file unless a symbolic link leads there. Checks that it exists first, as most new keys have none. */
  const read = (path: string): ReturnType<typeof readText> =>
    isInside(fileSystem, root, dirname(path)) && statusOf(fileSystem, path)
      ? readText(fileSystem, path)
      : null

  const readNote = (address: Address): FileEntry | null => {
    const path = notePath(address)
    const file = read(path)
    if (!file) return null
    const entry = parseNote(file.content, basename(path, '.md'), {
      modified: Math.round(file.stamp.modified),
    })
    const isWanted = entry.key === address.key && isOfNamespace(entry, address)
    if (!isWanted) assertTellsKey(file.content, path, address)
    const isNamedOtherwise = entry.named === true && !isSpelledSo(fileSystem, path)
    return isWanted && !isNamedOtherwise ? entry : null
  }

  /** Same rule as in the index: if the folder's name does not state the namespace, the note has to. */
  const isOfNamespace = (entry: FileEntry, { namespace }: Address): boolean =>
    fileStem(namespace) === namespace || entry.namespace === namespace

  /** A key or namespace that is not a valid file name is stated in the front matter alone. */
  const assertTellsKey = (content: string, path: string, { scope, key }: Address): void => {
    const { problem } = parseFrontMatter(content)
    if (problem === undefined) return
    const message = `${path} does not say whether it holds '${key}' (${problem}): mend that, or rename the file`
    throw new MemoryError(message, MemoryErrorCode.CORRUPTION, { scope, key, details: { path } })
  }

  /**
   * A file that cannot be read may hold the very entry that is wanted.
   *
   * @throws MemoryError UNAVAILABLE for the first such file that concerns the caller
   */
  const refuseUnread = (
    unread: ReturnType<SearchIndex['unread']>,
    concerns: (file: { folder: string; name: string }) => boolean,
  ): void => {
    const first = unread.find(concerns)
    if (!first) return
    const path = join(fromShown(root, first.folder), first.name)
    throw new MemoryError(first.problem, MemoryErrorCode.UNAVAILABLE, { details: { path } })
  }

  /**
   * Whether a file that cannot be read may be the archive of a session: not if the table names another session for it.
   */
  const mayBeArchiveOf = (key: string, { folder, name }: { folder: string; name: string }): boolean => {
    if (!archiveFile.test(name)) return false
    if (folder !== layout.archives) return true
    const table = read(paths.archiveIndex)?.content ?? ''
    const [told, ...others] = sessionsInTable(table, archiveNumber(name))
    // A row that was made while the file could not be read states nothing but the file's name.
    if (told === undefined || others.length > 0 || told === name.slice(0, -3)) return true
    const session = told.replace(/ \(part \d+\)$/, '')
    const asked = sessionInRow(key.slice(conversationKey('').length))
    return asked === session || asked.startsWith(`${session}#`)
  }

  /**
   * Path of a session's archive, looked up in the index and verified by the file itself; `null` when there is none, or
   * a note takes its place.
   */
  const archivePath = (key: string): string | null => {
    const current = index.fresh()
    const row = current.byKey('episodic', defaultNamespace, key)
    if (!row) refuseUnread(current.unreadable(), (file) => mayBeArchiveOf(key, file))
    // Only archives have numbers.
    return row && row.number !== null ? pathOf(row) : null
  }

  const folderPaths = (): Map<number, string> => index.asIs().folderPaths()

  const pathOf = (row: DocumentRow, folders = folderPaths()): string =>
    join(fromShown(root, folders.get(row.folder) ?? ''), row.name)

  const readSpecial = (address: Address): FileEntry | null => {
    const place = specialPlace(address)
    const path = specialPath(address)
    if (path === null) return null
    const file = read(path)
    if (!file) return null
    const times = { modified: Math.round(file.stamp.modified) }
    if (place === 'section') return readSection(path, file, address.key)
    if (place === 'window') return byKey(windowEntries(file.content, times), address.key)
    const source = sourcesOf(fileSystem, root, layout).find(
      (each) => each.path === shownPath(root, dirname(path)),
    )
    const [entry] = source?.parse(basename(path), file.content, times) ?? []
    return entry ? { ...entry, key: address.key } : null
  }

  /** The curated file that a key names; `null` for files that the session lifecycle keeps. */
  const sectionPath = (key: string): string | null => {
    const path = join(root, layout.memory, sectionOf(key)?.fileName as string)
    const kept = [paths.window, paths.archiveIndex].map((each) => each.toLowerCase())
    return kept.includes(path.toLowerCase()) ? null : path
  }

  /** The file, other than a note, that holds an entry of this key; `null` when there is none (yet). */
  const specialPath = (address: Address): string | null => {
    switch (specialPlace(address)) {
      case 'section':
        return sectionPath(address.key)
      case 'window':
        return paths.window
      case 'archive':
        return archivePath(address.key)
      case null:
        return null
    }
  }

  const readEntry = (address: Address): FileEntry | null => {
    const special = readSpecial(address)
    // The index finds it by its place in the file, such as the heading above it. The entry was written without such a
    // text.
    return special ? { ...special, text: searchableText(special.value) } : readNote(address)
  }

  const toEntry = (address: Address, file: FileEntry): Entry => {
    const access = accessLog.read(address, file)
    return toMemoryEntry(address, file, access)
  }

  /** Notes what a call read, so that counting its accesses does not read it again. */
  const remember = (address: Address, entry: Entry, at: number): void => {
    if (recent.size > 2000) recent.clear()
    recent.set(addressName(address), { ...versionOf(entry), at })
  }

  /** The version whose access is to be counted: the one read by the call of this instant, otherwise the current one. */
  const versionAt = (address: Address, now: number): ReadVersion | null => {
    const known = recent.get(addressName(address))
    if (known?.at === now) return known
    const entry = live(address, now)
    if (entry) remember(address, entry, now)
    return entry && versionOf(entry)
  }

  const live = (address: Address, now: number): Entry | null => {
    const file = readEntry(address)
    if (!file) return null
    const entry = toEntry(address, file)
    return hasExpired(entry, now) ? null : entry
  }

  /** @throws MemoryError UNAVAILABLE when it cannot be told, because the last access of the entry is unknown */
  const hasExpired = (entry: Entry, now: number): boolean => {
    if (!isExpired(entry, now)) return false
    accessLog.assertReadable()
    return true
  }

  /**
   * Refuses to overwrite a file of that name that holds another key. A file that came back meanwhile holds this key.
   */
  const refuseForeignFile = (path: string, address: Address): void => {
    if (!fileSystem.existsSync(path) || readNote(address)) return
    const { scope, key } = address
    const message = `${path} already holds another memory than '${key}': rename that file`
    throw new MemoryError(message, MemoryErrorCode.CONFLICT, { scope, key, details: { path } })
  }

  /** Every file that may hold the entry, present or not. */
  const filesOf = (address: Address): string[] => {
    const special = specialPath(address)
    return [notePath(address), ...(special === null ? [] : [special])]
  }

  return {
    paths,
    notePath,
    sectionPath,
    archivePath,
    folderPaths,
    pathOf,
    filesOf,
    readNote,
    readEntry,
    toEntry,
    hasExpired,
    live,
    refuseUnread,
    refuseForeignFile,
    remember,
    versionAt,
  }
}

const byKey = (entries: FileEntry[], key: string): FileEntry | null =>
  entries.find((entry) => entry.key === key) ?? null

const addressName = ({ scope, namespace, key }: Address): string => `${scope}\u0000${namespace}\u0000${key}`

const versionOf = ({ createdAt, updatedAt, ttl }: Entry): ReadVersion => ({
  created: createdAt,
  updated: updatedAt,
  ttl,
})

/** An entry that replaces another one: it keeps the other's creation time, and its version differs. */
export const asSuccessor = (entry: Entry, earlier: Entry, expected?: Expected): Entry => ({
  ...entry,
  createdAt: earlier.createdAt,
  updatedAt: expected ? entry.updatedAt : Math.max(entry.updatedAt, earlier.updatedAt + 1),
})

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
    accessedAt: Math.max(file.updated, access?.at ?? 0),
    accessCount: access?.count ?? 0,
    ttl: file.ttl,
    expiresAt: file.expires === null ? null : Math.max(file.expires, access?.expires ?? 0),
    encrypted: isEnvelope(value),
    embedding: null,
  }
}
