import type { MemoryScope } from '@recall/core'
import type { SqlValue, Statement } from '../sqlite/driver.ts'
import type { Conditions } from './conditions.ts'
import { scopeNumbers } from './schema.ts'

/** What to match units by, in the query language of FTS5. */
export interface WordQuery {
  match: string
  /** Words that count in what `match` finds, but find nothing by themselves. Default: none. */
  also?: string
}

export interface UnitRow {
  /** The document's id plus the unit's number in it. */
  id: number
  /** BM25, larger is better. */
  bm25: number
}

/**
 * The word tables: which units hold which words.
 *
 * @param where the text and values of a condition on `d`, a document
 * @param state changes whenever the index does
 */
export function createWordRows(
  sql: (text: string) => Statement,
  where: (conditions: Conditions) => { text: string; values: SqlValue[] },
  state: () => string,
) {
  /** How many units hold a common word, by table and word: counting them takes as long as searching for them. */
  const common = new Map<string, { count: number; state: string }>()

  const countUnits = (scope: MemoryScope): number => {
    const counted = sql('SELECT coalesce(sum(units), 0) AS units FROM totals WHERE scope = ?')
    return (counted.get(scopeNumbers[scope]) as { units: number }).units
  }

  return {
    /** Best-matching units first. */
    matchUnits(
      { match, also = '' }: WordQuery,
      conditions: Conditions,
      join: boolean,
      limit: number,
    ): UnitRow[] {
      const words = `words${scopeNumbers[conditions.scope]}`
      const found = `SELECT rowid AS id, -bm25(${words}) AS bm25 FROM ${words} WHERE ${words} MATCH ?`
      const ranked =
        also === ''
          ? found
          : `WITH found AS MATERIALIZED (${found}), more AS MATERIALIZED (${found})
             SELECT found.id AS id, coalesce(more.bm25, found.bm25) AS bm25
             FROM found LEFT JOIN more ON more.id = found.id`
      const matches = also === '' ? [match] : [match, `(${match}) AND (${also})`]
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

    /** The listed parts and labels of some units, for documents that have several units. */
    listed(units: readonly number[]): { id: number; parts: number; label: string | null }[] {
      return sql('SELECT id, parts, label FROM units WHERE id IN (SELECT value FROM json_each(?))').all(
        JSON.stringify(units),
      ) as { id: number; parts: number; label: string | null }[]
    },

    /** How many units of a scope hold a word, and which, in order, unless there are too many to list. */
    holding(scope: MemoryScope, word: string): { count: number; units: Int32Array | null } {
      const table = `words${scopeNumbers[scope]}`
      const known = common.get(`${table} ${word}`)
      if (known?.state === state()) return { count: known.count, units: null }
      const match = `SELECT rowid FROM ${table} WHERE ${table} MATCH ?`
      // One string crosses from the database much faster than thousands of rows.
      const { list } = sql(`SELECT group_concat(rowid) AS list FROM (${match} LIMIT ?)`).get(
        word,
        mostListed + 1,
      ) as { list: string | null }
      const units = numbersIn(list ?? '')
      if (units.length <= mostListed) return { count: units.length, units }
      const { count } = sql(`SELECT count(*) AS count FROM (${match})`).get(word) as { count: number }
      common.set(`${table} ${word}`, { count, state: state() })
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

    /** How many units of a scope have words. */
    countUnits,

    /**
     * How many removed units of a scope FTS5 still counts. It never takes the rows of a contentless table off the
     * totals from which `bm25()` computes how rare a word is, and how long a text is among the others.
     */
    countRemovedUnits(scope: MemoryScope): number {
      const row = sql(`SELECT block FROM words${scopeNumbers[scope]}_data WHERE id = ${averagesRow}`).get()
      const { block } = (row as { block: Uint8Array } | undefined) ?? { block: new Uint8Array() }
      return firstVarint(block) - countUnits(scope)
    },
  }
}

/** Parses a comma-separated list without splitting it, which would create thousands of short strings. */
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

/** This row of FTS5's data begins with the number of rows, as one of SQLite's variable-length integers. */
const averagesRow = 1

/** Each byte gives seven bits, the highest first; its eighth bit says that more bytes follow. */
function firstVarint(bytes: Uint8Array): number {
  let value = 0
  for (const byte of bytes) {
    value = value * 128 + (byte & 127)
    if (byte < 128) break
  }
  return value
}

/** For a word in more units than this, only their count is returned. */
const mostListed = 4000
