import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'

/**
 * What the machine can do: contentless FTS5 over the same files with nothing around it, all words first and any word
 * when that finds fewer than ten, the ten best read from their files.
 */
export function buildBareIndex(root: string, path: string): void {
  rmSync(path, { force: true })
  const folder = join(root, 'memory', 'long-term')
  const database = new DatabaseSync(path)
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT);
    CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2')`)
  const file = database.prepare('INSERT INTO files (name) VALUES (?)')
  const words = database.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)')
  const names = readdirSync(folder)
  for (let i = 0; i < names.length; i += 1000) {
    database.exec('BEGIN')
    for (const name of names.slice(i, i + 1000)) {
      const { lastInsertRowid } = file.run(name)
      words.run(Number(lastInsertRowid), readFileSync(join(folder, name), 'utf8'))
    }
    database.exec('COMMIT')
  }
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
}

export interface BareIndex {
  /** Kept with the statements: the driver closes a connection that nothing refers to. */
  database: InstanceType<typeof DatabaseSync>
  find(query: string): string[]
}

export function openBareIndex(root: string, path: string): BareIndex {
  const folder = join(root, 'memory', 'long-term')
  const database = new DatabaseSync(path)
  const match = database.prepare(
    'SELECT id, bm25 FROM (SELECT rowid AS id, -bm25(words) AS bm25 FROM words WHERE words MATCH ?) ORDER BY bm25 DESC LIMIT 10',
  )
  const name = database.prepare('SELECT name FROM files WHERE id = ?')
  const find = (query: string): string[] => {
    const words = (query.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => `"${word}"`)
    let found = match.all(words.join(' ')) as { id: number }[]
    if (found.length < 10) found = match.all(words.join(' OR ')) as { id: number }[]
    return found.map(({ id }) => readFileSync(join(folder, (name.get(id) as { name: string }).name), 'utf8'))
  }
  return { database, find }
}

/** The same search as a whole process, for cold starts. */
export function writeBareScript(folder: string, root: string, path: string): string {
  mkdirSync(folder, { recursive: true })
  const script = join(folder, 'bare.cjs')
  const driver = JSON.stringify(createRequire(import.meta.url).resolve('@photostructure/sqlite'))
  const source = `const { DatabaseSync } = require(${driver}); const fs = require('node:fs')
const database = new DatabaseSync(${JSON.stringify(path)})
const match = database.prepare('SELECT id, bm25 FROM (SELECT rowid AS id, -bm25(words) AS bm25 FROM words WHERE words MATCH ?) ORDER BY bm25 DESC LIMIT 10')
const words = process.argv.slice(2).map((word) => '"' + word + '"')
let found = match.all(words.join(' '))
if (found.length < 10) found = match.all(words.join(' OR '))
const name = database.prepare('SELECT name FROM files WHERE id = ?')
for (const { id } of found) console.log(fs.readFileSync(${JSON.stringify(join(root, 'memory', 'long-term'))} + '/' + name.get(id).name, 'utf8').slice(0, 100))
`
  writeFileSync(script, source)
  return script
}
