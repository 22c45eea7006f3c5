import {
  dateWords,
  jsonBytes,
  type MemoryScope,
  splitUnits,
  type Unit,
  unitLabel,
  wordsInIdentifiers,
} from '@recall/core'
import { contentHash } from '../digest.ts'
import type { LocatedEntry } from '../sources.ts'
import { type DocumentRow, documentColumns } from './document-row.ts'
import { createStatements, type Database, type SqlValue } from './driver.ts'
import { type FileStamp, mixStamp, stampModulus } from './file-stamp.ts'
import { scopeNumbers } from './schema.ts'
import { createVectorRows } from './vector-rows.ts'

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

/** What units are looked for by, in the query language of FTS5. */
export interface WordQuery {
  match: string
  /** Words that count in what `match` finds, but find nothing by themselves. */
  also?: string
}

export interface UnitRow {
  /** The document's id plus the unit's number in it. */
  id: number
  /** BM25, larger is better. */
  bm25: number
}

/** Conditions that the database can test; all that are given must hold. */
export interface Conditions {
  scope: MemoryScope
  namespace: string
  now: number
  tags: readonly string[]
}

/** The tables of the index: what is in them and how to ask. It neither reads files nor decides what is stale. */
export type SearchIndex = ReturnType<typeof createSearchIndex>

export function createSearchIndex(database: Database) {
  const sql = createStatements(database)

  const removeDocument = (row: { id: number; scope: number; units: number }): void => {
    const first = row.id
    const last = first + row.units - 1
    if (row.scope !== noScope)
      sql(`DELETE FROM words${row.scope} WHERE rowid BETWEEN ? AND ?`).run(first, last)
    if (row.units > 1) sql('DELETE FROM units WHERE id BETWEEN ? AND ?').run(first, last)
    sql('DELETE FROM vectors WHERE unit BETWEEN ? AND ?').run(first, last)
    sql('DELETE FROM documents WHERE id = ?').run(row.id)
  }

  /** Two files may claim one key, for example a copied archive: the later one gets a key of its own. */
  const freeKey = (entry: LocatedEntry, name: string): string => {
    const taken = sql('SELECT 1 FROM documents WHERE scope = ? AND namespace = ? AND key = ?')
    const isTaken = (key: string): boolean =>
      taken.get(scopeNumbers[entry.scope], entry.namespace, key) !== undefined
    if (!isTaken(entry.key)) return entry.key
    const own = `${entry.key}@${name.replace(/\.md$/, '')}`
    return isTaken(own) ? `${own}@${Math.random().toString(36).slice(2)}` : own
  }

  const insertDocument = (
    file: IndexedFile,
    scope: number,
    entry: LocatedEntry,
    units: number,
    hash: Uint8Array,
  ) => {
    const { stamp } = file
    const { id } = sql(
      'SELECT coalesce((SELECT id + max(units, 1) FROM documents ORDER BY id DESC LIMIT 1), 1) AS id',
    ).get() as { id: number }
    sql(
      `INSERT INTO documents (id, folder, name, scope, namespace, key, type, tags, created, updated, expires, session,
         number, fields, units, bytes, size, modified, changed, inode, hash, problem)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ).run(
      id,
      file.folder,
      file.name,
      scope,
      entry.namespace,
      scope === noScope ? `${file.folder}/${file.name}` : freeKey(entry, file.name),
      entry.type,
      joinTags(entry.tags),
      entry.created,
      entry.updated,
      entry.expires,
      entry.session ?? null,
      entry.number ?? null,
      entry.fields === null ? null : JSON.stringify(entry.fields),
      units,
      jsonBytes(entry.value),
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
      const text = only ? entry.text : entry.text.slice(unit.start, unit.end)
      // What a conversation was about and when it took place are asked for together.
      const date = i === 0 && !only ? dateWords(entry.created) : ''
      words.run(first + i, [text, date, wordsInIdentifiers(text)].filter(Boolean).join('\n'))
    })
    if (!only) addUnits(first, file, entry, units)
  }

  /** Long documents list where their units lie, so that a passage is read without reading the file. */
  const addUnits = (first: number, file: IndexedFile, entry: LocatedEntry, units: Unit[]): void => {
    const insert = sql('INSERT INTO units (id, start, length, line, label) VALUES (?, ?, ?, ?, ?)')
    const start = entry.derived ? -1 : file.content.lastIndexOf(entry.text)
    let at = start < 0 ? 0 : Buffer.byteLength(file.content.slice(0, start))
    units.forEach((unit, i) => {
      const text = entry.text.slice(unit.start, unit.end)
      const length = Buffer.byteLength(text)
      insert.run(first + i, start < 0 ? -1 : at, length, entry.line + unit.line, unitLabel(text) || null)
      at += length
    })
  }

  const fileRows = (folder: number, name: string) =>
    sql(
      'SELECT id, scope, units, session, size, modified, changed, inode, hash FROM documents WHERE folder = ? AND name = ? ORDER BY id',
    ).all(folder, name) as (FileStamp & {
      id: number
      scope: number
      units: number
      session: string | null
      hash: Uint8Array
    })[]

  /** What the transaction changes in each folder's count and sum; written once, at its end. */
  const adjustments = new Map<number, { count: number; sum: number }>()

  const adjustFolder = (folder: number, count: number, sum: number): void => {
    const known = adjustments.get(folder) ?? { count: 0, sum: 0 }
    const total = (known.sum + sum + stampModulus) % stampModulus
    adjustments.set(folder, { count: known.count + count, sum: total })
  }

  const writeAdjustments = (): void => {
    for (const [folder, { count, sum }] of adjustments) {
      sql('UPDATE folders SET count = count + ?, sum = (sum + ?) % ? WHERE id = ?').run(
        count,
        sum,
        stampModulus,
        folder,
      )
    }
    adjustments.clear()
  }

  const where = ({ scope, namespace, now, tags }: Conditions): { text: string; values: SqlValue[] } => {
    const parts = ['d.scope = ?', 'd.namespace = ?', '(d.expires IS NULL OR d.expires > ?)']
    const values: SqlValue[] = [scopeNumbers[scope], namespace, now]
    for (const tag of tags) {
      parts.push('instr(d.tags, ?) > 0')
      values.push(joinTags([tag]))
    }
    return { text: parts.join(' AND '), values }
  }

  /** Runs a call in one transaction that is exclusive from its start: an upgrade could not wait. */
  const transaction = <T>(call: () => T): T => {
    database.exec('BEGIN IMMEDIATE')
    try {
      const result = call()
      writeAdjustments()
      database.exec('COMMIT')
      return result
    } catch (error) {
      adjustments.clear()
      try {
        database.exec('ROLLBACK')
      } catch {}
      throw error
    }
  }

  return {
    transaction,

    folders: (): FolderState[] =>
      sql('SELECT id, path, modified, count, sum FROM folders').all() as FolderState[],

    folder(path: string): FolderState {
      sql('INSERT OR IGNORE INTO folders (path, modified, count, sum) VALUES (?, 0, 0, 0)').run(path)
      return sql('SELECT id, path, modified, count, sum FROM folders WHERE path = ?').get(path) as FolderState
    },

    folderModified(id: number, modified: number): void {
      sql('UPDATE folders SET modified = ? WHERE id = ?').run(modified, id)
    },

    /** Entries of a place, and the size of their values as `jsonBytes` counts it. */
    usage(scope: MemoryScope, namespace: string): { entries: number; bytes: number } {
      return sql(
        'SELECT count(*) AS entries, coalesce(sum(bytes), 0) AS bytes FROM documents WHERE scope = ? AND namespace = ?',
      ).get(scopeNumbers[scope], namespace) as { entries: number; bytes: number }
    },

    /** The stamp of every file known in a folder. */
    stamps(folder: number): Map<string, FileStamp> {
      const rows = sql('SELECT name, size, modified, changed, inode FROM documents WHERE folder = ?').all(
        folder,
      )
      return new Map((rows as (FileStamp & { name: string })[]).map((row) => [row.name, row]))
    },

    /** @returns false when the content is what the index already has; then only the stamp is taken over */
    putFile(file: IndexedFile): boolean {
      const known = fileRows(file.folder, file.name)
      const hash = contentHash(file.bytes)
      const [first] = known
      adjustFolder(file.folder, first ? 0 : 1, mixStamp(file.stamp) - (first ? mixStamp(first) : 0))
      if (first && Buffer.compare(first.hash, hash) === 0) {
        const { size, modified, changed, inode } = file.stamp
        sql(
          'UPDATE documents SET size = ?, modified = ?, changed = ?, inode = ? WHERE folder = ? AND name = ?',
        ).run(size, modified, changed, inode, file.folder, file.name)
        // An entry that does not say when it was written has its file's time.
        file.entries.forEach(({ created, updated }, i) => {
          sql('UPDATE documents SET created = ?, updated = ? WHERE id = ?').run(
            created,
            updated,
            known[i]?.id ?? -1,
          )
        })
        return false
      }
      for (const row of known) removeDocument(row)
      for (const entry of file.entries) addEntry(file, entry, hash)
      // A file without entries stays known all the same, so that it is not read at every check.
      if (file.entries.length === 0) insertDocument(file, noScope, emptyFile(file), 0, hash)
      return true
    },

    /** @returns sessions whose archive went, so that a copy can take its key */
    removeFile(folder: number, name: string): string[] {
      const known = fileRows(folder, name)
      const [first] = known
      if (!first) return []
      adjustFolder(folder, -1, stampModulus - mixStamp(first))
      for (const row of known) removeDocument(row)
      return known.flatMap(({ session }) => session ?? [])
    },

    /** Best-matching units first. */
    matchUnits({ match, also }: WordQuery, conditions: Conditions, join: boolean, limit: number): UnitRow[] {
      const words = `words${scopeNumbers[conditions.scope]}`
      const found = `SELECT rowid AS id, -bm25(${words}) AS bm25 FROM ${words} WHERE ${words} MATCH ?`
      const ranked =
        also === undefined
          ? found
          : `WITH found AS MATERIALIZED (${found}), more AS MATERIALIZED (${found})
             SELECT found.id AS id, coalesce(more.bm25, found.bm25) AS bm25
             FROM found LEFT JOIN more ON more.id = found.id`
      const matches = also === undefined ? [match] : [match, `(${match}) AND (${also})`]
      if (!join)
        return sql(`SELECT id, bm25 FROM (${ranked}) ORDER BY bm25 DESC, id LIMIT ?`).all(
          ...matches,
          limit,
        ) as UnitRow[]
      const { text, values } = where(conditions)
      return sql(
        `SELECT w.id AS id, w.bm25 AS bm25 FROM (${ranked}) w JOIN documents d
           ON d.id = (SELECT max(x.id) FROM documents x WHERE x.id <= w.id)
         WHERE ${text} ORDER BY w.bm25 DESC, w.id LIMIT ?`,
      ).all(...matches, ...values, limit) as UnitRow[]
    },

    /** What those of some units that have a label say there. */
    labels(units: readonly number[]): { id: number; label: string }[] {
      return sql(
        'SELECT id, label FROM units WHERE label IS NOT NULL AND id IN (SELECT value FROM json_each(?))',
      ).all(JSON.stringify(units)) as { id: number; label: string }[]
    },

    /** How many units of a scope hold a word, and which, in order, unless they are too many to list. */
    holding(scope: MemoryScope, word: string): { count: number; units: Int32Array | null } {
      const table = `words${scopeNumbers[scope]}`
      const match = `SELECT rowid FROM ${table} WHERE ${table} MATCH ?`
      // One text is handed over much faster than thousands of rows.
      const { list } = sql(`SELECT group_concat(rowid) AS list FROM (${match} LIMIT ?)`).get(
        word,
        mostListed + 1,
      ) as { list: string | null }
      const units = numbersIn(list ?? '')
      if (units.length <= mostListed) return { count: units.length, units }
      const { count } = sql(`SELECT count(*) AS count FROM (${match})`).get(word) as { count: number }
      return { count, units: null }
    },

    /** Whether a range of units holds a word. */
    holds(scope: MemoryScope, word: string, first: number, last: number): boolean {
      const table = `words${scopeNumbers[scope]}`
      return (
        sql(`SELECT 1 FROM ${table} WHERE ${table} MATCH ? AND rowid BETWEEN ? AND ? LIMIT 1`).get(
          word,
          first,
          last,
        ) !== undefined
      )
    },

    /** How many units of a scope have words: what FTS5 itself keeps for its `bm25()`. To count them takes longer. */
    countUnits(scope: MemoryScope): number {
      const row = sql(`SELECT block FROM words${scopeNumbers[scope]}_data WHERE id = ${averagesRow}`).get()
      return firstVarint((row as { block: Uint8Array } | undefined)?.block ?? new Uint8Array())
    },

    isEmpty: (scope: MemoryScope): boolean =>
      sql('SELECT 1 FROM documents WHERE scope = ? LIMIT 1').get(scopeNumbers[scope]) === undefined,

    /** Whether a scope holds anything that a query without conditions could wrongly return. */
    needsConditions({ scope, namespace }: Conditions): boolean {
      const number = scopeNumbers[scope]
      const expiring = sql('SELECT 1 FROM documents WHERE scope = ? AND expires IS NOT NULL LIMIT 1').get(
        number,
      )
      if (expiring) return true
      const end = (order: string): unknown =>
        sql(`SELECT namespace FROM documents WHERE scope = ? ORDER BY namespace ${order} LIMIT 1`).get(number)
      return [end('ASC'), end('DESC')].some((row) => row && (row as DocumentRow).namespace !== namespace)
    },

    /** The document that each unit belongs to, as far as ranking needs to know it. */
    documentsOfUnits(
      ids: readonly number[],
    ): Map<number, Pick<DocumentRow, 'id' | 'key' | 'updated' | 'units'>> {
      type Row = Pick<DocumentRow, 'id' | 'key' | 'updated' | 'units'>
      const first = sql(
        'SELECT d.id, d.key, d.updated, d.units FROM documents d WHERE d.id IN (SELECT value FROM json_each(?))',
      ).all(JSON.stringify(ids)) as Row[]
      const found = new Map(first.map((row) => [row.id, row]))
      const holder = sql(
        'SELECT d.id, d.key, d.updated, d.units FROM documents d WHERE d.id <= ? ORDER BY d.id DESC LIMIT 1',
      )
      for (const id of ids) if (!found.has(id)) found.set(id, holder.get(id) as Row)
      return found
    },

    documents(ids: readonly number[]): DocumentRow[] {
      return sql(
        `SELECT ${documentColumns} FROM documents d WHERE d.id IN (SELECT value FROM json_each(?))`,
      ).all(JSON.stringify(ids)) as DocumentRow[]
    },

    /** Documents of a scope, last written first. */
    list(conditions: Conditions, order: 'asc' | 'desc'): Iterable<DocumentRow> {
      const { text, values } = where(conditions)
      const statement = database.prepare(
        `SELECT ${documentColumns} FROM documents d WHERE ${text} ORDER BY d.updated ${order}, d.key`,
      )
      return statement.iterate(...values) as Iterable<DocumentRow>
    },

    expired(scope: MemoryScope, namespace: string, now: number): DocumentRow[] {
      return sql(
        `SELECT ${documentColumns} FROM documents d WHERE d.scope = ? AND d.namespace = ? AND d.expires <= ?`,
      ).all(scopeNumbers[scope], namespace, now) as DocumentRow[]
    },

    byKey(scope: MemoryScope, namespace: string, key: string): DocumentRow | undefined {
      return sql(
        `SELECT ${documentColumns} FROM documents d WHERE d.scope = ? AND d.namespace = ? AND d.key = ?`,
      ).get(scopeNumbers[scope], namespace, key) as DocumentRow | undefined
    },

    lastArchiveNumber(): number {
      const row = sql('SELECT max(number) AS last FROM documents').get() as { last: number | null }
      return row.last ?? 0
    },

    /** Files of a session that are indexed under a key that is not their own. */
    displacedArchives(session: string): { folder: number; name: string }[] {
      return sql(
        "SELECT folder, name FROM documents WHERE session = ? AND key LIKE '%@%' ORDER BY number",
      ).all(session) as { folder: number; name: string }[]
    },

    forgetHash(folder: number, name: string): void {
      sql("UPDATE documents SET hash = x'' WHERE folder = ? AND name = ?").run(folder, name)
    },

    units(document: number, numbers: readonly number[]) {
      const marks = numbers.map(() => '?').join(',')
      return database
        .prepare(
          `SELECT id - ${document} AS number, start, length, line FROM units WHERE id IN (${marks}) ORDER BY id`,
        )
        .all(...numbers.map((number) => document + number)) as {
        number: number
        start: number
        length: number
        line: number
      }[]
    },

    slideExpiry(scope: MemoryScope, namespace: string, key: string, expires: number): void {
      sql('UPDATE documents SET expires = ? WHERE scope = ? AND namespace = ? AND key = ?').run(
        expires,
        scopeNumbers[scope],
        namespace,
        key,
      )
    },

    /** Another text after anything in the index changed, by whatever process. */
    state(): string {
      const { data_version: others } = database.prepare('PRAGMA data_version').get() as {
        data_version: number
      }
      const { own } = sql('SELECT total_changes() AS own').get() as { own: number }
      return `${others} ${own}`
    },

    ...createVectorRows(sql, transaction),

    problems: () =>
      sql(
        'SELECT f.path AS folder, d.name AS name, d.problem AS problem FROM documents d JOIN folders f ON f.id = d.folder WHERE d.problem IS NOT NULL',
      ).all() as { folder: string; name: string; problem: string }[],

    /** Files that could not be read when they were last looked at, for a reason that may pass. */
    unreadable: () =>
      sql(
        'SELECT f.path AS folder, d.name AS name, d.problem AS problem FROM documents d JOIN folders f ON f.id = d.folder WHERE d.changed = ? AND d.problem IS NOT NULL',
      ).all(neverRead) as { folder: string; name: string; problem: string }[],

    hashes: () =>
      sql(
        'SELECT DISTINCT f.path AS folder, d.name AS name, d.hash AS hash FROM documents d JOIN folders f ON f.id = d.folder',
      ).all() as { folder: string; name: string; hash: Uint8Array }[],

    countDocuments: (): number =>
      (sql('SELECT count(*) AS n FROM documents WHERE scope >= 0').get() as { n: number }).n,

    countFiles: (): number =>
      (sql('SELECT coalesce(sum(count), 0) AS n FROM folders').get() as { n: number }).n,

    fact: (name: string): string | undefined =>
      (sql('SELECT value FROM facts WHERE name = ?').get(name) as { value: string } | undefined)?.value,

    setFact(name: string, value: string): void {
      sql(
        'INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      ).run(name, value)
    },
  }
}

/** The numbers of a list with commas; to split it would leave thousands of short texts to be collected. */
function numbersIn(list: string): Int32Array {
  if (list === '') return new Int32Array(0)
  const numbers = new Int32Array(mostListed + 1)
  let count = 0
  let number = 0
  for (let i = 0; i < list.length; i++) {
    const code = list.charCodeAt(i)
    if (code === comma) {
      numbers[count++] = number
      number = 0
    } else number = number * 10 + code - zero
  }
  numbers[count++] = number
  return numbers.slice(0, count)
}

const comma = 44
const zero = 48

/** Row of FTS5's data that begins with the number of rows, as a variable-length integer of SQLite's. */
const averagesRow = 1

/** Seven bits of each byte, the highest ones first; the eighth says that more follow. */
function firstVarint(bytes: Uint8Array): number {
  let value = 0
  for (const byte of bytes) {
    value = value * 128 + (byte & 127)
    if (byte < 128) break
  }
  return value
}

/** Of a word in more units than this only their number is told. */
const mostListed = 4000

/** Change time of a file that is to be read again at every look. */
export const neverRead = -1

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

/** Tags stand between separators, so that one tag is found whole. */
const joinTags = (tags: readonly string[]): string | null =>
  tags.length === 0 ? null : `\u001f${tags.join('\u001f')}\u001f`

export const splitTags = (tags: string | null): string[] => tags?.slice(1, -1).split('\u001f') ?? []

/** The units of an entry; an entry without text has none. */
export function unitsOf(entry: { text: string; type: string | null; number?: number }): Unit[] {
  return splitUnits(entry.text, entry.number !== undefined)
}
