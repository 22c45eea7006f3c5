import { createStatements, type Database, type OpenDatabase, type Statement } from './driver.ts'

/** Tells under which terms FTS5 files words. */
export interface Tokenizer {
  /** The term of each word; null for a word that FTS5 splits into several or leaves out. */
  termsOf(words: readonly string[]): (string | null)[]
  close(): void
}

/**
 * Asks FTS5 itself, because the least difference between its stemmer and ours would hide what a word stands in. In a
 * database of its own: writing to the index's connection would count as a change of the index.
 *
 * @param tokenize option of the word tables
 */
export function createTokenizer(open: OpenDatabase, tokenize: string): Tokenizer {
  let opened: { database: Database; sql: (text: string) => Statement } | undefined

  const tables = () => {
    if (opened) return opened
    const database = open(':memory:')
    database.exec(`
      CREATE VIRTUAL TABLE words USING fts5(word, content='', tokenize=${tokenize});
      CREATE VIRTUAL TABLE terms USING fts5vocab(words, instance);`)
    opened = { database, sql: createStatements(database) }
    return opened
  }

  return {
    termsOf(words) {
      const { sql } = tables()
      sql('INSERT INTO words (rowid, word) SELECT key, value FROM json_each(?)').run(JSON.stringify(words))
      const terms = words.map((): string[] => [])
      for (const { doc, term } of sql('SELECT doc, term FROM terms').all() as { doc: number; term: string }[])
        terms[doc]?.push(term)
      sql("INSERT INTO words (words) VALUES ('delete-all')").run()
      return terms.map((found) => (found.length === 1 ? (found[0] as string) : null))
    },

    close() {
      opened?.database.close()
      opened = undefined
    },
  }
}
