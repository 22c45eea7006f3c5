import {
  dateWords,
  foldLetters,
  forTokenizer,
  jsonBytes,
  type Unit,
  unitLabel,
  wordsInIdentifiers,
} from '@recall/core'
import { unitsOf } from '../documents/file-entry.ts'
import { contentHash } from '../files/digest.ts'
import { type FileStamp, mixStamp, neverRead, stampModulus } from '../files/file-stamp.ts'
import { fileStem } from '../files/paths.ts'
import type { LocatedEntry } from '../layout/sources.ts'
import type { Database, Statement } from '../sqlite/driver.ts'
import { joinTags, keptNamespace } from './document-row.ts'
import { createPendingSums } from './pending-sums.ts'
import { scopeNumbers } from './schema.ts'

export interface FolderState {
  id: number
  path: string
  modified: number
  count: number
  sum: number
}

export interface IndexedFile {
  folder: number
  name: string
  stamp: FileStamp
  bytes: Uint8Array
  content: string
  entries: LocatedEntry[]
  /** Why nothing could be read from it. */
  problem?: string
}

/** A row of `documents`, as far as replacing it needs to know it. */
interface FileRow extends FileStamp {
  id: number
  scope: number
  namespace: string
  key: string
  units: number
  bytes: number
  session: string | null
  hash: Uint8Array
}

/** What the index holds of each file: its entries, their words and units, and what the file looked like. */
export function createIndexedFiles(database: Database, sql: (text: string) => Statement) {
  const sums = createPendingSums(sql)
  /** The id behind all others, known from the first document that a transaction adds. */
  let nextId: number | undefined

  const removeDocument = (row: FileRow): void => {
    const first = row.id
    const last = first + row.units - 1
    if (row.scope !== noScope)
      sql(`DELETE FROM words${row.scope} WHERE rowid BETWEEN ? AND ?`).run(first, last)
    if (row.units > 1) sql('DELETE FROM units WHERE id BETWEEN ? AND ?').run(first, last)
    sql('DELETE FROM vectors WHERE unit BETWEEN ? AND ?').run(first, last)
    sql('DELETE FROM documents WHERE id = ?').run(row.id)
    sums.addToTotal(row.scope, row.namespace, -1, -row.bytes)
  }

  const holderOf = (scope: number, namespace: string, key: string) =>
    sql('SELECT id, name FROM documents WHERE scope = ? AND namespace = ? AND key = ?').get(
      scope,
      namespace,
      key,
    ) as { id: number; name: string } | undefined

  /**
   * Two files may claim one key, for example a copied archive: the stronger claim has it, else the earlier one, and the
   * other file gets a key of its own.
   */
  const claimKey = ({ scope, namespace, key }: LocatedEntry, name: string): string => {
    const find = (wanted: string) => holderOf(scopeNumbers[scope], keptNamespace(namespace), wanted)
    const ownKey = (loser: string): string => {
      const own = `${key}${displaced(loser)}`
      return find(own) ? `${own}@${Math.random().toString(36).slice(2)}` : own
    }
    const holder = find(key)
    if (!holder) return key
    if (strengthOf(key, name) <= strengthOf(key, holder.name)) return ownKey(name)
    sql('UPDATE documents SET key = ? WHERE id = ?').run(ownKey(holder.name), holder.id)
    return key
  }

  /** Files that claim the key which a file had, and have keys of their own so far. */
  const waitingFor = (name: string, { scope, namespace, key, session }: FileRow): NamedFile[] => {
    if (claimedKey({ key, name }) !== key) return []
    // Each copy of a session's archive may be one of another part.
    if (session !== null)
      return sql(
        "SELECT folder, name FROM documents WHERE session = ? AND key LIKE '%@%' ORDER BY number",
      ).all(session) as unknown as NamedFile[]
    const behind = sql(
      'SELECT folder, name, key FROM documents WHERE scope = ? AND namespace = ? AND key > ? AND key < ? ORDER BY name',
    ).all(scope, namespace, `${key}@`, `${key}A`) as unknown as (NamedFile & { key: string })[]
    return behind.filter((each) => claimedKey(each) === key)
  }

  const freeId = (): number => {
    const { id } = sql(
      'SELECT coalesce((SELECT id + max(units, 1) FROM documents ORDER BY id DESC LIMIT 1), 1) AS id',
    ).get() as { id: number }
    return id
  }

  const insertDocument = (
    file: IndexedFile,
    scope: number,
    entry: LocatedEntry,
    units: number,
    hash: Uint8Array,
  ) => {
    const { stamp } = file
    const namespace = keptNamespace(entry.namespace)
    const bytes = jsonBytes(entry.value)
    sums.addToTotal(scope, namespace, 1, bytes)
    const id = nextId ?? freeId()
    nextId = id + Math.max(units, 1)
    sql(
      `INSERT INTO documents (id, folder, name, scope, namespace, key, type, tags, created, updated, expires, session,
         number, fields, units, bytes, size, modified, changed, inode, hash, problem)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ).run(
      id,
      file.folder,
      file.name,
      scope,
      namespace,
      scope === noScope ? `${file.folder}/${file.name}` : claimKey(entry, file.name),
      entry.type,
      joinTags(entry.tags),
      entry.created,
      entry.updated,
      entry.expires,
      entry.session ?? null,
      entry.number ?? null,
      entry.fields === null ? null : JSON.stringify(entry.fields),
      units,
      bytes,
      stamp.size,
      stamp.modified,
      stamp.changed,
      stamp.inode,
      hash,
      entry.problem ?? null,
    )
    return id
  }

  const addEntry = (file: IndexedFile, entry: LocatedEntry, hash: Uint8Array): void => {
    const units = unitsOf(entry)
    const scope = scopeNumbers[entry.scope]
    const first = insertDocument(file, scope, entry, units.length, hash)
    if (entry.text === '') return
    const words = sql(`INSERT INTO words${scope} (rowid, text) VALUES (?, ?)`)
    const only = units.length === 1
    units.forEach((unit, i) => {
      const text = foldLetters(only ? entry.text : entry.text.slice(unit.start, unit.end))
      // People ask for a conversation's subject and its date together.
      const date = i === 0 && !only ? dateWords(entry.created) : ''
      const found = [text, date, wordsInIdentifiers(text)].filter(Boolean).join('\n')
      words.run(first + i, forTokenizer(found))
    })
    if (!only) addUnits(first, file, entry, units)
  }

  /** Long documents list where their units lie, so that a passage is read without reading the file. */
  const addUnits = (first: number, file: IndexedFile, entry: LocatedEntry, units: Unit[]): void => {
    const insert = sql('INSERT INTO units (id, start, length, line, parts, label) VALUES (?, ?, ?, ?, ?, ?)')
    const start = entry.derived ? -1 : file.content.lastIndexOf(entry.text)
    let at = start < 0 ? 0 : Buffer.byteLength(file.content.slice(0, start))
    units.forEach((unit, i) => {
      const text = entry.text.slice(unit.start, unit.end)
      const length = Buffer.byteLength(text)
      insert.run(
        first + i,
        start < 0 ? -1 : at,
        length,
        entry.line + unit.line,
        unit.parts,
        unitLabel(text, unit.parts) || null,
      )
      at += length
    })
  }

  const fileRows = (folder: number, name: string) =>
    sql(
      `SELECT id, scope, namespace, key, units, bytes, session, size, modified, changed, inode, hash FROM documents
       WHERE folder = ? AND name = ? ORDER BY id`,
    ).all(folder, name) as FileRow[]

  /** Runs a call in one transaction that is exclusive from its start: an upgrade could not wait. */
  const transaction = <T>(call: () => T): T => {
    database.exec('BEGIN IMMEDIATE')
    try {
      const result = call()
      sums.write()
      database.exec('COMMIT')
      return result
    } catch (error) {
      sums.forget()
      try {
        database.exec('ROLLBACK')
      } catch {}
      throw error
    } finally {
      nextId = undefined
    }
  }

  const knownFolder = (path: string): FolderState | undefined =>
    sql('SELECT id, path, modified, count, sum FROM folders WHERE path = ?').get(path) as
      | FolderState
      | undefined

  const withProblem = (condition = '', ...values: number[]) =>
    sql(
      `SELECT f.path AS folder, d.name AS name, d.problem AS problem FROM documents d JOIN folders f ON f.id = d.folder
       WHERE d.problem IS NOT NULL ${condition}`,
    ).all(...values) as { folder: string; name: string; problem: string }[]

  return {
    transaction,

    folders: (): FolderState[] =>
      sql('SELECT id, path, modified, count, sum FROM folders').all() as FolderState[],

    /** The state of a folder that was indexed before. */
    knownFolder,

    folder(path: string): FolderState {
      sql('INSERT OR IGNORE INTO folders (path, modified, count, sum) VALUES (?, 0, 0, 0)').run(path)
      return knownFolder(path) as FolderState
    },

    folderModified(id: number, modified: number): void {
      sql('UPDATE folders SET modified = ? WHERE id = ?').run(modified, id)
    },

    /** The stamp of every file known in a folder; one that holds several entries comes as often. */
    stamps: (folder: number): Iterable<FileStamp & { name: string }> =>
      sql('SELECT name, size, modified, changed, inode FROM documents WHERE folder = ?').iterate(
        folder,
      ) as Iterable<FileStamp & { name: string }>,

    /**
     * If the content is unchanged, only the stamp is updated.
     *
     * @returns files that claim a key which this one gave up
     */
    putFile(file: IndexedFile): NamedFile[] {
      const known = fileRows(file.folder, file.name)
      const hash = contentHash(file.bytes)
      const [first] = known
      sums.addToFolder(file.folder, first ? 0 : 1, mixStamp(file.stamp) - (first ? mixStamp(first) : 0))
      if (first && Buffer.compare(first.hash, hash) === 0) {
        const { size, modified, changed, inode } = file.stamp
        sql(
          'UPDATE documents SET size = ?, modified = ?, changed = ?, inode = ? WHERE folder = ? AND name = ?',
        ).run(size, modified, changed, inode, file.folder, file.name)
        // An entry without a time of its own takes its file's, and may end so long after it.
        file.entries.forEach(({ created, updated, expires }, i) => {
          sql('UPDATE documents SET created = ?, updated = ?, expires = ? WHERE id = ?').run(
            created,
            updated,
            expires,
            known[i]?.id ?? -1,
          )
        })
        return []
      }
      for (const row of known) removeDocument(row)
      for (const entry of file.entries) addEntry(file, entry, hash)
      // A file without entries is recorded too, so that it is not read again at every check.
      if (file.entries.length === 0) insertDocument(file, noScope, emptyFile(file), 0, hash)
      return known.flatMap((row) =>
        holderOf(row.scope, row.namespace, row.key) ? [] : waitingFor(file.name, row),
      )
    },

    /** @returns files that claim a key which this one had */
    removeFile(folder: number, name: string): NamedFile[] {
      const known = fileRows(folder, name)
      const [first] = known
      if (!first) return []
      sums.addToFolder(folder, -1, stampModulus - mixStamp(first))
      for (const row of known) removeDocument(row)
      return known.flatMap((row) => waitingFor(name, row))
    },

    forgetHash(folder: number, name: string): void {
      sql("UPDATE documents SET hash = x'' WHERE folder = ? AND name = ?").run(folder, name)
    },

    /** Notes that claim a key which another file has: they are found, and not read by it. */
    displacedNotes(): { folder: string; name: string; claimed: string }[] {
      const rows = sql(
        `SELECT f.path AS folder, d.name AS name, d.key AS key FROM documents d JOIN folders f ON f.id = d.folder
         WHERE d.key LIKE '%@%' AND d.session IS NULL AND d.scope <> ? ORDER BY folder, name`,
      ).all(noScope) as unknown as { folder: string; name: string; key: string }[]
      return rows
        .map(({ folder, name, key }) => ({ folder, name, key, claimed: claimedKey({ key, name }) }))
        .filter(({ key, claimed }) => claimed !== key)
    },

    /** Files of which something could not be read, and why. */
    problems: () => withProblem(),

    /** Files that could not be read when they were last looked at, for a reason that may pass. */
    unreadable: () => withProblem('AND d.scope = ? AND d.changed = ?', noScope, neverRead),

    /** Files of which nothing could be read, for whatever reason. */
    unread: () => withProblem('AND d.scope = ?', noScope),

    hashes: () =>
      sql(
        'SELECT DISTINCT f.path AS folder, d.name AS name, d.hash AS hash FROM documents d JOIN folders f ON f.id = d.folder',
      ).all() as { folder: string; name: string; hash: Uint8Array }[],

    countFiles: (): number =>
      (sql('SELECT coalesce(sum(count), 0) AS n FROM folders').get() as { n: number }).n,
  }
}

/** A file, by the number of its folder. */
export interface NamedFile {
  folder: number
  name: string
}

/** As a store reads: a section of the file before any note, and the note that is written to before one of another name. */
const strengthOf = (key: string, name: string): number =>
  key.startsWith(`${name}#`) ? 2 : name === `${fileStem(key)}.md` ? 1 : 0

/** What follows its key in the index when another file has it. */
const displaced = (name: string): string => `@${name.replace(/\.md$/, '')}`

/** The key that a file gives to its entry, by the key under which the index has it. */
export function claimedKey({ key, name }: { key: string; name: string }): string {
  const at = key.lastIndexOf(displaced(name))
  return at > 0 ? key.slice(0, at) : key
}

/** Scope of a file that holds no entry. */
const noScope = -1

const emptyFile = ({ name, problem }: IndexedFile): LocatedEntry => ({
  key: name,
  scope: 'working',
  namespace: '',
  type: null,
  tags: [],
  value: null,
  text: '',
  created: 0,
  updated: 0,
  ttl: null,
  expires: null,
  line: 1,
  fields: null,
  ...(problem ? { problem } : {}),
})
