import type { Address, MemoryScope } from '@recall/core'
import type { Layout } from '../layout/layout.ts'
import { createStatements, type Database, type SqlValue } from '../sqlite/driver.ts'
import type { Conditions, RowCondition } from './conditions.ts'
import {
  type DocumentRow,
  documentColumns,
  joinTags,
  keptNamespace,
  namespaceColumn,
  type RankedDocument,
  shownNamespace,
} from './document-row.ts'
import { createIndexedFiles } from './indexed-files.ts'
import { hasOtherNamespaces } from './other-namespaces.ts'
import { scopeNumbers } from './schema.ts'
import { createVectorRows } from './vector-rows.ts'
import { createWordRows } from './word-rows.ts'

/** Rows held in memory at a time. */
const rowsAtOnce = 500

/** How many indexes this process has opened. */
let openings = 0

/** How far reads postponed the expiry of a version of an entry. */
export interface SlidExpiry extends Address {
  updated: number
  expires: number
}

/** The tables of the index and the queries on them. It neither reads files nor decides what is stale. */
export type SearchIndex = ReturnType<typeof createSearchIndex>

export function createSearchIndex(database: Database, layout: Layout) {
  const sql = createStatements(database)
  const opening = ++openings

  const where = ({ scope, namespace, now, tags, narrowing }: Conditions): RowCondition => {
    const parts = ['d.scope = ?', 'd.namespace = ?', '(d.expires IS NULL OR d.expires > ?)']
    const values: SqlValue[] = [scopeNumbers[scope], keptNamespace(namespace), now]
    for (const tag of tags) {
      parts.push('instr(d.tags, ?) > 0')
      values.push(joinTags([tag]))
    }
    if (narrowing) {
      parts.push(`(d.fields IS NULL OR ${narrowing.text})`)
      values.push(...narrowing.values)
    }
    return { text: parts.join(' AND '), values }
  }

  /** With conditions, only documents that fulfil them. */
  const documents = (ids: readonly number[], conditions?: Conditions): DocumentRow[] => {
    const { text, values } = conditions ? where(conditions) : { text: '1', values: [] }
    // A cross join, because SQLite would otherwise go through all entries of the namespace.
    return sql(
      `SELECT ${documentColumns} FROM json_each(?) wanted CROSS JOIN documents d ON d.id = wanted.value WHERE ${text}`,
    ).all(JSON.stringify(ids), ...values) as DocumentRow[]
  }

  /** A text that changes whenever any process changes the index, and differs for each index that is opened. */
  const state = (): string => {
    const { data_version: others } = database.prepare('PRAGMA data_version').get() as { data_version: number }
    const { own } = sql('SELECT total_changes() AS own').get() as { own: number }
    return `${opening} ${others} ${own}`
  }

  const files = createIndexedFiles(database, sql, layout)
  let paths: { state: string; byId: Map<number, string> } | undefined

  return {
    ...files,
    ...createWordRows(sql, where, state),
    ...createVectorRows(sql, files.transaction),

    /** The paths of the folders by id. Kept, as one query about many places needs them many times. */
    folderPaths(): Map<number, string> {
      const now = state()
      if (paths?.state !== now)
        paths = { state: now, byId: new Map(files.folders().map(({ id, path }) => [id, path])) }
      return paths.byId
    },

    /** Entries of a place, and the size of their values as counted by `jsonBytes`. */
    usage(scope: MemoryScope, namespace: string): { entries: number; bytes: number } {
      const totals = sql('SELECT entries, bytes FROM totals WHERE scope = ? AND namespace = ?').get(
        scopeNumbers[scope],
        keptNamespace(namespace),
      )
      return (totals as { entries: number; bytes: number } | undefined) ?? { entries: 0, bytes: 0 }
    },

    /** Namespaces that have entries. */
    namespaces: (): string[] =>
      (sql('SELECT DISTINCT namespace FROM totals WHERE entries > 0').all() as { namespace: string }[]).map(
        ({ namespace }) => shownNamespace(namespace),
      ),

    isEmpty: (scope: MemoryScope): boolean =>
      sql('SELECT 1 FROM documents WHERE scope = ? LIMIT 1').get(scopeNumbers[scope]) === undefined,

    /** Whether a scope holds entries that a query without conditions would wrongly return. */
    needsConditions({ scope, namespace }: Conditions): boolean {
      const expiring = sql('SELECT 1 FROM documents WHERE scope = ? AND expires IS NOT NULL LIMIT 1').get(
        scopeNumbers[scope],
      )
      return expiring !== undefined || hasOtherNamespaces(sql, scope, namespace)
    },

    /** The document that each unit belongs to, as far as ranking needs it. */
    documentsOfUnits(ids: readonly number[]): Map<number, RankedDocument> {
      const columns = 'd.id, d.key, d.type, d.created, d.updated, d.units'
      const first = sql(
        `SELECT ${columns} FROM documents d WHERE d.id IN (SELECT value FROM json_each(?))`,
      ).all(JSON.stringify(ids)) as RankedDocument[]
      const found = new Map(first.map((row) => [row.id, row]))
      const holder = sql(`SELECT ${columns} FROM documents d WHERE d.id <= ? ORDER BY d.id DESC LIMIT 1`)
      for (const id of ids) if (!found.has(id)) found.set(id, holder.get(id) as RankedDocument)
      return found
    },

    documents,

    /**
     * Documents of a scope, by the time of their last write. Only ids are sorted, because sorting whole rows takes
     * twenty times as long.
     */
    *list(conditions: Conditions, order: 'asc' | 'desc'): Iterable<DocumentRow> {
      const { text, values } = where(conditions)
      const sorted = database
        .prepare(`SELECT d.id FROM documents d WHERE ${text} ORDER BY d.updated ${order}, d.key`)
        .all(...values) as { id: number }[]
      for (let i = 0; i < sorted.length; i += rowsAtOnce) {
        const ids = sorted.slice(i, i + rowsAtOnce).map(({ id }) => id)
        const rows = new Map(documents(ids).map((row) => [row.id, row]))
        yield* ids.flatMap((id) => rows.get(id) ?? [])
      }
    },

    /** One page of the same list. */
    page(
      conditions: Conditions,
      order: 'asc' | 'desc',
      { offset, limit }: { offset: number; limit: number },
    ): DocumentRow[] {
      const { text, values } = where(conditions)
      const ordered = `ORDER BY d.updated ${order}, d.key`
      return sql(
        `SELECT ${documentColumns} FROM documents d
         WHERE d.id IN (SELECT d.id FROM documents d WHERE ${text} ${ordered} LIMIT ? OFFSET ?) ${ordered}`,
      ).all(...values, limit, offset) as DocumentRow[]
    },

    expired(scope: MemoryScope, namespace: string, now: number): DocumentRow[] {
      return sql(
        `SELECT ${documentColumns} FROM documents d WHERE d.scope = ? AND d.namespace = ? AND d.expires <= ?`,
      ).all(scopeNumbers[scope], keptNamespace(namespace), now) as DocumentRow[]
    },

    /** What expired in any place, after one instant and until another. */
    expiredBetween(after: number, until: number) {
      return sql(
        `SELECT d.scope, ${namespaceColumn}, d.key, d.updated FROM documents d
         WHERE d.scope IN (${Object.values(scopeNumbers)}) AND d.expires > ? AND d.expires <= ?`,
      ).all(after, until) as Pick<DocumentRow, 'scope' | 'namespace' | 'key' | 'updated'>[]
    },

    byKey(scope: MemoryScope, namespace: string, key: string): DocumentRow | undefined {
      return sql(
        `SELECT ${documentColumns} FROM documents d WHERE d.scope = ? AND d.namespace = ? AND d.key = ?`,
      ).get(scopeNumbers[scope], keptNamespace(namespace), key) as DocumentRow | undefined
    },

    lastArchiveNumber(): number {
      // SQLite uses the index of numbered documents only with this condition.
      const row = sql('SELECT max(number) AS last FROM documents WHERE number IS NOT NULL').get() as {
        last: number | null
      }
      return row.last ?? 0
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

    /** Does nothing where the index holds another version of the entry: the log is asked when one is indexed. */
    slideExpiry({ scope, namespace, key, updated, expires }: SlidExpiry): void {
      sql(
        `UPDATE documents SET expires = max(expires, ?)
         WHERE scope = ? AND namespace = ? AND key = ? AND updated = ?`,
      ).run(expires, scopeNumbers[scope], keptNamespace(namespace), key, updated)
    },

    /** Runs a call that only reads, on a single state of the index, whatever other processes write. */
    snapshot<T>(call: () => T): T {
      database.exec('BEGIN')
      try {
        const result = call()
        database.exec('COMMIT')
        return result
      } catch (error) {
        // SQLite ends a transaction by itself after some errors, and a failed attempt to end it again would hide them.
        try {
          database.exec('ROLLBACK')
        } catch {}
        throw error
      }
    },

    state,

    countDocuments: (): number =>
      (sql('SELECT count(*) AS n FROM documents WHERE scope >= 0').get() as { n: number }).n,

    fact: (name: string): string | undefined =>
      (sql('SELECT value FROM facts WHERE name = ?').get(name) as { value: string } | undefined)?.value,

    setFact(name: string, value: string): void {
      sql(
        'INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      ).run(name, value)
    },
  }
}
