import { DatabaseSync } from '@photostructure/sqlite'
import { layouts } from '../../src/layout/layout.ts'
import { schema } from '../../src/search-index/schema.ts'
import { createSearchIndex, type SearchIndex } from '../../src/search-index/search-index.ts'
import { createStatements, type Database } from '../../src/sqlite/driver.ts'

/** An index of units 1, 2, … in long-term memory, each a document of its own. */
export function indexOf(
  texts: readonly string[],
  database: Database = new DatabaseSync(':memory:'),
): SearchIndex {
  database.exec(schema)
  const sql = createStatements(database)
  const word = sql('INSERT INTO words2 (rowid, text) VALUES (?, ?)')
  const document = sql(
    `INSERT INTO documents (id, folder, name, scope, namespace, key, created, updated, units, bytes, size, modified,
       changed, inode, hash) VALUES (?, 1, '', 2, '', ?, 0, 0, 1, 0, 0, 0, 0, 0, x'')`,
  )
  database.exec('BEGIN')
  database.exec(
    `INSERT INTO totals (scope, namespace, entries, bytes, units) VALUES (2, '', ${texts.length}, 0, ${texts.length})`,
  )
  texts.forEach((text, i) => {
    word.run(i + 1, text)
    document.run(i + 1, String(i))
  })
  database.exec('COMMIT')
  return createSearchIndex(database, layouts.entity)
}
