import type { MemoryScope } from '@recall/core'
import type { Statement } from '../sqlite/driver.ts'
import { documentColumns, type HashedRow, keptNamespace } from './document-row.ts'
import { hasOtherNamespaces } from './other-namespaces.ts'
import { scopeNumbers } from './schema.ts'

const vectorsOf = '(SELECT count(*) FROM vectors v WHERE v.unit BETWEEN d.id AND d.id + d.units - 1)'
/** What has expired, and waits only to be removed, gets none. */
const lacksVectors = `(d.expires IS NULL OR d.expires > ?) AND d.units > ${vectorsOf}`

/** What the index knows about vectors: which unit has one, and in which slot of the vector file. */
export function createVectorRows(sql: (text: string) => Statement, transaction: <T>(call: () => T) => T) {
  const areMarked = (mark: string): boolean =>
    sql("SELECT 1 FROM facts WHERE name = 'vectors' AND value = ?").get(mark) !== undefined
  const markVectors = (mark: string): void =>
    sql("INSERT OR REPLACE INTO facts (name, value) VALUES ('vectors', ?)").run(mark)

  const countVectors = (): number =>
    (sql('SELECT count(*) AS embedded FROM vectors').get() as { embedded: number }).embedded

  return {
    /**
     * Begins to record other vectors: forgets the existing ones, unless it was begun before. `mark` identifies the new
     * ones.
     */
    beginVectors(mark: string): void {
      transaction(() => {
        if (areMarked(mark)) return
        sql('DELETE FROM vectors').run()
        markVectors(mark)
      })
    },

    /** Gives the recorded vectors another mark; false when they no longer have the expected one. */
    endVectors(expected: string, mark: string): boolean {
      return transaction(() => {
        const isExpected = areMarked(expected)
        if (isExpected) markVectors(mark)
        return isExpected
      })
    },

    /** Whether the recorded vectors have this mark. */
    areMarked,

    /** Forgets vectors from a slot on. */
    dropVectors(from: number): void {
      sql('DELETE FROM vectors WHERE slot >= ?').run(from)
    },

    /** Documents with an id below `before` in which some unit is to get a vector, the last indexed first. */
    newestWithoutVectors(before: number, limit: number, now: number): HashedRow[] {
      return sql(
        `SELECT ${documentColumns}, d.hash FROM documents d WHERE d.id < ? AND d.scope >= 0 AND d.units > 0
           AND ${lacksVectors} ORDER BY d.id DESC LIMIT ?`,
      ).all(before, now, limit) as HashedRow[]
    },

    /** Documents with units and an id above `after`; with `lackingAt`, only those that are to get a vector then. */
    documentsWithUnits(after: number, limit: number, lackingAt?: number): HashedRow[] {
      const lacking = lackingAt === undefined ? '' : `AND ${lacksVectors}`
      const values = lackingAt === undefined ? [after] : [after, lackingAt]
      return sql(
        `SELECT ${documentColumns}, d.hash FROM documents d WHERE d.id > ? AND d.scope >= 0 AND d.units > 0
           ${lacking} ORDER BY d.id LIMIT ?`,
      ).all(...values, limit) as HashedRow[]
    },

    /**
     * Records the slots of the documents' units that have one, except for documents that changed meanwhile. Recording
     * the same again does not change the index.
     *
     * @returns false, and records nothing, when the recorded vectors no longer have the expected mark
     */
    putVectors(
      expected: string,
      documents: readonly { row: HashedRow; slots: readonly (number | undefined)[] }[],
    ): boolean {
      const same = sql(
        'SELECT 1 FROM documents WHERE id = ? AND folder = ? AND name = ? AND units = ? AND hash = ?',
      )
      const insert = sql(
        `INSERT INTO vectors (unit, scope, slot) VALUES (?, ?, ?) ON CONFLICT DO UPDATE
           SET scope = excluded.scope, slot = excluded.slot WHERE scope != excluded.scope OR slot != excluded.slot`,
      )
      return transaction(() => {
        if (!areMarked(expected)) return false
        for (const { row, slots } of documents) {
          if (!same.get(row.id, row.folder, row.name, row.units, row.hash)) continue
          for (const [i, slot] of slots.entries())
            if (slot !== undefined) insert.run(row.id + i, row.scope, slot)
        }
        return true
      })
    },

    /** Where the vectors of a place are, by unit. */
    unitSlots(scope: MemoryScope, namespace: string): { unit: number; slot: number }[] {
      const number = scopeNumbers[scope]
      const slots = hasOtherNamespaces(sql, scope, namespace)
        ? sql(
            `SELECT v.unit, v.slot FROM documents d
               CROSS JOIN vectors v ON v.unit >= d.id AND v.unit < d.id + d.units
             WHERE d.scope = ? AND d.namespace = ? ORDER BY v.unit`,
          ).all(number, keptNamespace(namespace))
        : sql('SELECT unit, slot FROM vectors WHERE scope = ? ORDER BY unit').all(number)
      return slots as { unit: number; slot: number }[]
    },

    countVectors,

    /**
     * How many units have a vector, and how many have one or are to get one. Looks at every document: this takes a
     * hundred times as long as counting the vectors alone.
     */
    vectorCounts(now: number): { embedded: number; total: number } {
      const { total } = sql(
        `SELECT coalesce(sum(iif(d.expires <= ?, ${vectorsOf}, d.units)), 0) AS total
           FROM documents d WHERE d.scope >= 0`,
      ).get(now) as { total: number }
      return { embedded: countVectors(), total }
    },
  }
}
