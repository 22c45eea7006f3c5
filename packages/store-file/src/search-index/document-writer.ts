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
import { contentHash } from '../files/digest.ts'
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
  /** Digest of its words, where other entries of its file may change without it. */
  words: Uint8Array | null
}

/** What a row takes from elsewhere than its entry; `hash` is that of the whole file. */
type NewRow = Pick<WrittenDocument, 'id' | 'scope' | 'units' | 'words'> & { hash: Uint8Array }

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

  const takeId = (units: number): number => {
    const id = nextId ?? freeId()
    nextId = id + Math.max(units, 1)
    return id
  }

  const insertRow = (
    file: IndexedFile,
    entry: LocatedEntry,
    { id, scope, units, hash, words }: NewRow,
  ): void => {
    const { stamp } = file
    const namespace = keptNamespace(entry.namespace)
    const bytes = jsonBytes(entry.value)
    sums.addToTotal(scope, namespace, { entries: 1, bytes, units })
    sql(
      `INSERT INTO documents (id, folder, name, scope, namespace, key, type, tags, created, updated, expires, session,
         number, fields, units, bytes, size, modified, changed, inode, hash, words, problem)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
      words,
      entry.problem ?? null,
    )
  }

  /** Long documents list where their units lie, so that a passage is read without reading the whole file. */
  const addUnits = (first: number, entry: LocatedEntry, units: Unit[], offsetOf: OffsetOf): void => {
    const insert = sql('INSERT INTO units (id, start, length, line, parts, label) VALUES (?, ?, ?, ?, ?, ?)')
    const start = entry.derived ? null : offsetOf(entry)
    let at = start ?? 0
    units.forEach((unit, i) => {
      const text = entry.text.slice(unit.start, unit.end)
      const length = Buffer.byteLength(text)
      insert.run(
        first + i,
        start === null ? -1 : at,
        length,
        entry.line + unit.line,
        unit.parts,
        unitLabel(text, unit.parts) || null,
      )
      at += length
    })
  }

  const addWords = (first: number, entry: LocatedEntry, units: readonly Unit[]): void => {
    const insert = sql(`INSERT INTO words${scopeNumbers[entry.scope]} (rowid, text) VALUES (?, ?)`)
    const only = units.length === 1
    units.forEach((unit, i) => {
      const text = foldLetters(only ? entry.text : entry.text.slice(unit.start, unit.end))
      const date = i === 0 ? dateOf(entry, units) : ''
      const found = [text, date, wordsInIdentifiers(text)].filter(Boolean).join('\n')
      insert.run(first + i, forTokenizer(found))
    })
  }

  const removeRow = ({ id, scope, namespace, units, bytes }: WrittenDocument): void => {
    if (units > 1) sql('DELETE FROM units WHERE id BETWEEN ? AND ?').run(id, id + units - 1)
    sql('DELETE FROM documents WHERE id = ?').run(id)
    sums.addToTotal(scope, namespace, { entries: -1, bytes: -bytes, units: -units })
  }

  const removeWords = ({ id, scope, units }: WrittenDocument): void => {
    const last = id + units - 1
    if (scope !== noScope) sql(`DELETE FROM words${scope} WHERE rowid BETWEEN ? AND ?`).run(id, last)
    sql('DELETE FROM vectors WHERE unit BETWEEN ? AND ?').run(id, last)
  }

  return {
    /**
     * Puts the entries of a file in the place of those that it had. Of several, those that say the same keep their
     * words. A file without entries is recorded too, so that it is not read again at every check.
     */
    replace(file: IndexedFile, before: readonly WrittenDocument[], hash: Uint8Array): void {
      // The ids of rows that are put back must not be taken.
      nextId ??= freeId()
      const reusable = groupByWords(before)
      const added = file.entries.map((entry) => {
        const units = unitsOf(entry)
        const words = file.entries.length > 1 ? digestOfWords(entry, units) : null
        const kept = words && reusable.get(`${scopeNumbers[entry.scope]} ${hex(words)}`)?.pop()
        return { entry, units, words, kept }
      })
      for (const row of before) removeRow(row)
      for (const row of [...reusable.values()].flat()) removeWords(row)
      const offsetOf = offsetsIn(file)
      for (const { entry, units, words, kept } of added) {
        const id = kept?.id ?? takeId(units.length)
        insertRow(file, entry, { id, scope: scopeNumbers[entry.scope], units: units.length, hash, words })
        if (!kept) addWords(id, entry, units)
        if (units.length > 1) addUnits(id, entry, units, offsetOf)
      }
      if (added.length === 0)
        insertRow(file, emptyFile(file), { id: takeId(0), scope: noScope, units: 0, hash, words: null })
    },

    remove(row: WrittenDocument): void {
      removeRow(row)
      removeWords(row)
    },

    /** To be called at the end of a transaction: other processes may add documents before the next. */
    forgetIds(): void {
      nextId = undefined
    },
  }
}

/** People ask for a conversation's subject and its date together. */
const dateOf = (entry: LocatedEntry, units: readonly Unit[]): string =>
  units.length > 1 ? dateWords(entry.created) : ''

const digestOfWords = (entry: LocatedEntry, units: readonly Unit[]): Uint8Array =>
  contentHash(Buffer.from([entry.type, dateOf(entry, units), entry.text].join('\n')))

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Rows by scope and words, the first of each last; each row without a digest by itself. */
function groupByWords(rows: readonly WrittenDocument[]): Map<string, WrittenDocument[]> {
  const groups = new Map<string, WrittenDocument[]>()
  for (const row of rows.toReversed()) {
    const name = row.words ? `${row.scope} ${hex(row.words)}` : `${row.id}`
    const group = groups.get(name)
    if (group) group.push(row)
    else groups.set(name, [row])
  }
  return groups
}

/** The byte of the file at which the text of an entry begins; `null` when it does not stand there verbatim. */
type OffsetOf = (entry: LocatedEntry) => number | null

function offsetsIn({ bytes }: IndexedFile): OffsetOf {
  let line = 1
  let start = 0
  return (entry) => {
    if (entry.line < line) [line, start] = [1, 0]
    for (; line < entry.line; line++) start = bytes.indexOf(newline, start) + 1
    const text = Buffer.from(entry.text)
    return Buffer.compare(bytes.subarray(start, start + text.length), text) === 0 ? start : null
  }
}

const newline = 10

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
