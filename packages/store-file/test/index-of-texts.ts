import { DatabaseSync } from '@photostructure/sqlite'
import { schema, tokenize } from '../src/search-index/schema.ts'
import { createSearchIndex, type SearchIndex } from '../src/search-index/search-index.ts'
import { createStatements, type Database } from '../src/sqlite/driver.ts'
import { createTokenizer } from '../src/sqlite/tokenizer.ts'

export const tokenizer = createTokenizer((path): Database => new DatabaseSync(path), tokenize)

export interface IndexOfTexts {
  index: SearchIndex
  /** Replaces the text of a document; none removes it. */
  replace(id: number, text?: string): void
}

/** An index of documents of the scope `long-term`, 1, 2, …, each of one unit with such a text. */
export function indexOfTexts(texts: readonly string[]): IndexOfTexts {
  const database: Database = new DatabaseSync(':memory:')
  database.exec(schema)
  const sql = createStatements(database)
  const add = (id: number, text: string): void => {
    sql('INSERT INTO words2 (rowid, text) VALUES (?, ?)').run(id, text)
    sql(
      `INSERT INTO documents (id, folder, name, scope, namespace, key, created, updated, units, bytes, size, modified,
         changed, inode, hash) VALUES (?, 1, '', 2, '', ?, 0, 0, 1, 0, 0, 0, 0, 0, x'')`,
    ).run(id, String(id))
  }
  texts.forEach((text, i) => {
    add(i + 1, text)
  })
  return {
    index: createSearchIndex(database, tokenizer),
    replace(id, text) {
      sql('DELETE FROM words2 WHERE rowid = ?').run(id)
      sql('DELETE FROM documents WHERE id = ?').run(id)
      if (text !== undefined) add(id, text)
    },
  }
}
