import { jsonBytes } from '@recall/core/json'
import {
  dateWords,
  foldLetters,
  forTokenizer,
  type Unit,
  unitLabel,
  wordsInIdentifiers,
} from '@recall/core/ranking'
import { unitsOf } from '../documents/file-entry.ts'
import type { FileStamp } from '../files/file-stamp.ts'
import type { LocatedEntry } from '../layout/sources.ts'
import type { Statement } from '../sqlite/driver.ts'
import type { Claims } from './claims.ts'
import { joinTags, keptNamespace } from './document-row.ts'
import type { PendingSums } from './pending-sums.ts'
import { noScope, scopeNumbers } from './schema.ts'

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

/** Where a document is in the tables, and what it adds to the sums. */
export interface WrittenDocument {
  id: number
  scope: number
  namespace: string
  units: number
  bytes: number
}

/** Writes and removes documents: the row of each entry, its words and its units. */
export function createDocumentWriter(
  sql: (text: string) => Statement,
  { claims, sums }: { claims: Claims; sums: PendingSums },
) {
  /** The next free id, known from the first document that a transaction adds. */
  let nextId: number | undefined

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
      scope === noScope
        ? `${file.folder}/${file.name}`
        : claims.claim({ scope, namespace, key: entry.key }, file),
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

  /** Long documents list where their units lie, so that a passage is read without reading the whole file. */
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

  return {
    add(file: IndexedFile, entry: LocatedEntry, hash: Uint8Array): void {
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
    },

    /** A file without entries is recorded too, so that it is not read again at every check. */
    addEmpty(file: IndexedFile, hash: Uint8Array): void {
      insertDocument(file, noScope, emptyFile(file), 0, hash)
    },

    remove({ id, scope, namespace, units, bytes }: WrittenDocument): void {
      const last = id + units - 1
      if (scope !== noScope) sql(`DELETE FROM words${scope} WHERE rowid BETWEEN ? AND ?`).run(id, last)
      if (units > 1) sql('DELETE FROM units WHERE id BETWEEN ? AND ?').run(id, last)
      sql('DELETE FROM vectors WHERE unit BETWEEN ? AND ?').run(id, last)
      sql('DELETE FROM documents WHERE id = ?').run(id)
      sums.addToTotal(scope, namespace, -1, -bytes)
    },

    /** To be called at the end of a transaction: other processes may add documents before the next. */
    forgetIds(): void {
      nextId = undefined
    },
  }
}

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
