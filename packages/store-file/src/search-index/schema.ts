import type { MemoryScope } from '@recall/core'

/**
 * Raised when the tables change, or what they hold for the same file: an index of another version is discarded and
 * rebuilt.
 */
export const schemaVersion = 2

/** A row's scope is its position here. */
export const scopeNumbers: Record<MemoryScope, number> = {
  working: 0,
  'short-term': 1,
  'long-term': 2,
  episodic: 3,
}

/** Scope of a file that holds no entry. */
export const noScope = -1

/**
 * Texts are not stored: they are in the files. Each scope has its own word table, so that a query never reads the
 * postings of another scope. A document's id is the row id of its first unit there, and its other units follow: small
 * numbers close together make the postings a third smaller. Only documents of several units list where these lie. Word
 * tables gather 8 MB of postings before they write them: a rebuild of 100,000 files takes a third less time than with
 * SQLite's default of 1 MB.
 */
export const schema = `
CREATE TABLE folders (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  modified REAL NOT NULL,
  count INTEGER NOT NULL,
  sum INTEGER NOT NULL
);

CREATE TABLE documents (
  id INTEGER PRIMARY KEY,
  folder INTEGER NOT NULL,
  name TEXT NOT NULL,
  scope INTEGER NOT NULL,
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  type TEXT,
  tags TEXT,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  expires INTEGER,
  session TEXT,
  number INTEGER,
  fields TEXT,
  units INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  size INTEGER NOT NULL,
  modified REAL NOT NULL,
  changed REAL NOT NULL,
  inode INTEGER NOT NULL,
  hash BLOB NOT NULL,
  words BLOB,
  problem TEXT
);
CREATE UNIQUE INDEX document_address ON documents (scope, namespace, key);
CREATE INDEX document_file ON documents (folder, name);
CREATE INDEX document_expires ON documents (scope, expires) WHERE expires IS NOT NULL;
CREATE INDEX document_session ON documents (session) WHERE session IS NOT NULL;
CREATE INDEX document_number ON documents (number) WHERE number IS NOT NULL;

CREATE TABLE totals (
  scope INTEGER NOT NULL,
  namespace TEXT NOT NULL,
  entries INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  units INTEGER NOT NULL,
  PRIMARY KEY (scope, namespace)
) WITHOUT ROWID;

CREATE TABLE units (
  id INTEGER PRIMARY KEY,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  line INTEGER NOT NULL,
  parts INTEGER NOT NULL,
  label TEXT
);

CREATE TABLE vectors (
  unit INTEGER PRIMARY KEY,
  scope INTEGER NOT NULL,
  slot INTEGER NOT NULL
);

CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

${[0, 1, 2, 3]
  .map(
    (scope) =>
      `CREATE VIRTUAL TABLE words${scope} USING fts5(text, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2 categories ''L* N* M* Co''');
INSERT INTO words${scope} (words${scope}, rank) VALUES ('hashsize', ${8 * 1024 * 1024});`,
  )
  .join('\n')}

PRAGMA user_version = ${schemaVersion};
`
