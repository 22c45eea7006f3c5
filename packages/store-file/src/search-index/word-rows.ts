import type { MemoryScope } from '@recall/core'
import type { SqlValue, Statement } from '../sqlite/driver.ts'
import type { Tokenizer } from '../sqlite/tokenizer.ts'
import type { Conditions } from './conditions.ts'
import { scopeNumbers } from './schema.ts'

/** Words to match units by. */
export interface WordQuery {
  words: readonly string[]
  /** Whether a unit has to hold all of them, or any. */
  every: boolean
  /** Words of which any counts in what the others find, but which find nothing by themselves. */
  also?: readonly string[]
}

export interface UnitRow {
  /** The document's id plus the unit's number in it. */
  id: number
  /** BM25, larger is better. */
  bm25: number
}

/** Where a word stands. */
export interface Postings {
  /** Units that hold it, ascending. */
  units: Int32Array
  /** How often each does. */
  times: Int32Array
}

/** What the word tables know about one word. */
export interface Holding {
  /** How many units hold it. */
  count: number
  /** Null where they are too many to list, or where FTS5 takes the word for several. */
  postings: Postings | null
}

/**
 * The word tables: which units hold which words.
 *
 * @param where the text and values of what `d`, a document, has to be
 */
export function createWordRows(
  sql: (text: string) => Statement,
  tokenizer: Pick<Tokenizer, 'termsOf'>,
  where: (conditions: Conditions) => { text: string; values: SqlValue[] },
  state: () => string,
) {
  const common = createKept(state)

  /** How many units of a scope have words, and how many words: what FTS5 keeps itself. To count takes longer. */
  const totals = (scope: MemoryScope): { units: number; words: number } => {
    const row = sql(`SELECT block FROM words${scopeNumbers[scope]}_data WHERE id = ${averagesRow}`).get()
    const [units = 0, words = 0] = varintsIn((row as { block: Uint8Array } | undefined)?.block ?? [])
    return { units, words }
  }

  /** Where a term stands, unless that is in more places than these. */
  const postingsOf = (scope: MemoryScope, term: string, most: number): Postings | null => {
    // One string crosses from the database much faster than thousands of rows.
    const { list } = sql(
      `SELECT group_concat(doc) AS list FROM (SELECT doc FROM terms${scopeNumbers[scope]} WHERE term = ? LIMIT ?)`,
    ).get(term, most + 1) as { list: string | null }
    const places = JSON.parse(`[${list ?? ''}]`) as number[]
    return places.length > most ? null : counted(places)
  }

  const holdingOf = (scope: MemoryScope, word: string, term: string | null, most: number): Holding => {
    const postings = term === null ? null : postingsOf(scope, term, most)
    if (postings) return { count: postings.units.length, postings }
    const table = `words${scopeNumbers[scope]}`
    const { count } = sql(`SELECT count(*) AS count FROM ${table} WHERE ${table} MATCH ?`).get(
      quoted(word),
    ) as { count: number }
    return { count, postings }
  }

  return {
    /** Best-matching units first. */
    matchUnits(
      { words: asked, every, also }: WordQuery,
      conditions: Conditions,
      join: boolean,
      limit: number,
    ): UnitRow[] {
      const words = `words${scopeNumbers[conditions.scope]}`
      const found = `SELECT rowid AS id, -bm25(${words}) AS bm25 FROM ${words} WHERE ${words} MATCH ?`
      const ranked =
        also === undefined
          ? found
          : `WITH found AS MATERIALIZED (${found}), more AS MATERIALIZED (${found})
             SELECT found.id AS id, coalesce(more.bm25, found.bm25) AS bm25
             FROM found LEFT JOIN more ON more.id = found.id`
      const match = asked.map(quoted).join(every ? ' AND ' : ' OR ')
      const matches =
        also === undefined ? [match] : [match, `(${match}) AND (${also.map(quoted).join(' OR ')})`]
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

    /** The labels of those of some units that have one. */
    labels(units: readonly number[]): { id: number; label: string }[] {
      return sql(
        'SELECT id, label FROM units WHERE label IS NOT NULL AND id IN (SELECT value FROM json_each(?))',
      ).all(JSON.stringify(units)) as { id: number; label: string }[]
    },

    /** What is known about each of some words. */
    holding(scope: MemoryScope, words: readonly string[]): Holding[] {
      const terms = tokenizer.termsOf(words)
      // One that stands in more places says next to nothing.
      const most = Math.max(commonFrom, totals(scope).units >> 1)
      return words.map((word, i) => {
        const known = common.get(scope, word)
        if (known) return known
        const holding = holdingOf(scope, word, terms[i] ?? null, most)
        if (holding.count > commonFrom) common.keep(scope, word, holding)
        return holding
      })
    },

    /** How many words each of some units of a scope has. */
    lengths(scope: MemoryScope, units: readonly number[]): number[] {
      const { list } = sql(
        `SELECT group_concat(hex(sz), '') AS list
         FROM json_each(?) wanted CROSS JOIN words${scopeNumbers[scope]}_docsize d ON d.id = wanted.value`,
      ).get(JSON.stringify(units)) as { list: string | null }
      return list === null ? [] : varintsIn(Buffer.from(list, 'hex'))
    },

    /** Whether a range of units holds a word. */
    holds(scope: MemoryScope, word: string, first: number, last: number): boolean {
      const table = `words${scopeNumbers[scope]}`
      return (
        sql(`SELECT 1 FROM ${table} WHERE ${table} MATCH ? AND rowid BETWEEN ? AND ? LIMIT 1`).get(
          quoted(word),
          first,
          last,
        ) !== undefined
      )
    },

    totals,
  }
}

const quoted = (word: string): string => `"${word}"`

/** Counts how often each of some ascending numbers occurs. */
function counted(numbers: readonly number[]): Postings {
  const units = new Int32Array(numbers.length)
  const times = new Int32Array(numbers.length)
  let count = 0
  for (const number of numbers) {
    if (count === 0 || number !== units[count - 1]) units[count++] = number
    times[count - 1] = (times[count - 1] as number) + 1
  }
  return { units: units.subarray(0, count), times: times.subarray(0, count) }
}

/** Row of FTS5's data that holds the number of rows and of words. */
const averagesRow = 1

/** Numbers of variable length, as SQLite keeps them: seven bits of each byte, the highest first; the eighth says that more follow. */
function varintsIn(bytes: Iterable<number>): number[] {
  const numbers: number[] = []
  let number = 0
  for (const byte of bytes) {
    number = number * 128 + (byte & 127)
    if (byte >= 128) continue
    numbers.push(number)
    number = 0
  }
  return numbers
}

/** A word in more units than this takes long to look up. */
const commonFrom = 4000

/** Keeps what was looked up about common words, for as long as nothing changes in the index. */
function createKept(state: () => string) {
  const kept = new Map<string, Holding>()
  let keptIn: string | undefined
  let size = 0
  const clear = (): void => {
    kept.clear()
    size = 0
  }
  return {
    get(scope: MemoryScope, word: string): Holding | undefined {
      return kept.size > 0 && keptIn === state() ? kept.get(`${scope} ${word}`) : undefined
    },

    keep(scope: MemoryScope, word: string, holding: Holding): void {
      const added = holding.postings?.units.length ?? 0
      const now = state()
      if (now !== keptIn || size + added > mostKept) clear()
      keptIn = now
      size += added
      kept.set(`${scope} ${word}`, holding)
    },
  }
}

/** Units in lists that are kept: 8 MB. */
const mostKept = 1_000_000
