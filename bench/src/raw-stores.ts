import { DatabaseSync } from '@photostructure/sqlite'
import postgres from 'postgres'

/** The barest store that keeps the same: one table and a full-text index. */
export interface RawStore {
  name: string
  write(key: string, text: string): unknown
  read(key: string): Promise<string | undefined> | string | undefined
  writeAll(keys: readonly string[], text: string): unknown
  find(words: readonly string[]): unknown
  close(): unknown
}

/** Synced at every write if it is durable. */
export function openRawSqlite(path: string, isDurable: boolean): RawStore {
  const database = new DatabaseSync(isDurable ? path : ':memory:')
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE VIRTUAL TABLE words USING fts5(value, content='entries', content_rowid='rowid');`)
  const put = database.prepare(
    'INSERT INTO entries (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  )
  const get = database.prepare('SELECT value FROM entries WHERE key = ?')
  const find = database.prepare('SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 10')
  let isIndexed = false
  return {
    name: 'SQLite',
    write: (key, text) => put.run(key, text),
    read: (key) => (get.get(key) as { value: string } | undefined)?.value,
    writeAll(keys, text) {
      database.exec('BEGIN')
      for (const key of keys) put.run(key, text)
      database.exec('COMMIT')
    },
    find(words) {
      if (!isIndexed) database.exec("INSERT INTO words(words) VALUES ('rebuild')")
      isIndexed = true
      return find.all(words.join(' AND '))
    },
    close: () => database.close(),
  }
}

/** Uses its own schema, which is dropped at the end. */
export async function openRawPostgres(url: string): Promise<RawStore> {
  const sql = postgres(url, { max: 10, onnotice: () => {} })
  await sql.unsafe(`DROP SCHEMA IF EXISTS raw_bench CASCADE; CREATE SCHEMA raw_bench;
    CREATE TABLE raw_bench.entries (key text PRIMARY KEY, value text NOT NULL,
      words tsvector GENERATED ALWAYS AS (to_tsvector('english', value)) STORED);
    CREATE INDEX ON raw_bench.entries USING gin (words);`)
  const put = (via: postgres.Sql, key: string, value: string): Promise<unknown> =>
    via`INSERT INTO raw_bench.entries (key, value) VALUES (${key}, ${value})
      ON CONFLICT (key) DO UPDATE SET value = excluded.value`
  return {
    name: 'postgres.js',
    write: (key, value) => put(sql, key, value),
    read: async (key) => {
      const [row] = await sql<{ value: string }[]>`SELECT value FROM raw_bench.entries WHERE key = ${key}`
      return row?.value
    },
    writeAll: (keys, value) =>
      sql.begin((transaction) =>
        Promise.all(keys.map((key) => put(transaction as unknown as postgres.Sql, key, value))),
      ),
    find: (words) =>
      sql`SELECT key FROM raw_bench.entries, to_tsquery('english', ${words.join(' & ')}) AS query
        WHERE words @@ query ORDER BY ts_rank(words, query) DESC LIMIT 10`,
    async close() {
      await sql.unsafe('DROP SCHEMA raw_bench CASCADE')
      await sql.end()
    },
  }
}
