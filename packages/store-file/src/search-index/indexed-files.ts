import type { MemoryScope } from '@recall/core'
import { contentHash } from '../files/digest.ts'
import { type FileStamp, mixFile, neverRead, stampModulus } from '../files/file-stamp.ts'
import type { Layout } from '../layout/layout.ts'
import type { Database, Statement } from '../sqlite/driver.ts'
import { claimedKey, createClaims, type IndexedKey, type NamedFile } from './claims.ts'
import { keptNamespace } from './document-row.ts'
import { createDocumentWriter, type IndexedFile, type WrittenDocument } from './document-writer.ts'
import { createPendingSums } from './pending-sums.ts'
import { noScope, scopeNumbers } from './schema.ts'

export interface FolderState {
  id: number
  path: string
  modified: number
  count: number
  sum: number
}

/** A row of `documents`, as far as replacing it needs it. */
interface FileRow extends FileStamp, WrittenDocument, IndexedKey {
  session: string | null
  hash: Uint8Array
}

/** What the index holds of each file: its entries, their words and units, and what the file looked like. */
export function createIndexedFiles(database: Database, sql: (text: string) => Statement, layout: Layout) {
  const sums = createPendingSums(sql)
  const claims = createClaims(sql, layout)
  const documents = createDocumentWriter(sql, { claims, sums })

  const fileRows = (folder: number, name: string) =>
    sql(
      `SELECT id, scope, namespace, key, units, bytes, session, size, modified, changed, inode, hash, words FROM documents
       WHERE folder = ? AND name = ? ORDER BY id`,
    ).all(folder, name) as FileRow[]

  /** Runs a call in one transaction that is exclusive from its start: an upgrade to a write lock could not wait. */
  const transaction = <T>(call: () => T): T => {
    database.exec('BEGIN IMMEDIATE')
    try {
      const result = call()
      sums.write()
      database.exec('COMMIT')
      return result
    } catch (error) {
      sums.forget()
      try {
        database.exec('ROLLBACK')
      } catch {}
      throw error
    } finally {
      documents.forgetIds()
    }
  }

  const knownFolder = (path: string): FolderState | undefined =>
    sql('SELECT id, path, modified, count, sum FROM folders WHERE path = ?').get(path) as
      | FolderState
      | undefined

  const withProblem = (condition = '', ...values: number[]) =>
    sql(
      `SELECT f.path AS folder, d.name AS name, d.problem AS problem FROM documents d JOIN folders f ON f.id = d.folder
       WHERE d.problem IS NOT NULL ${condition}`,
    ).all(...values) as { folder: string; name: string; problem: string }[]

  return {
    transaction,

    folders: (): FolderState[] =>
      sql('SELECT id, path, modified, count, sum FROM folders').all() as FolderState[],

    /** The state of a folder that was indexed before. */
    knownFolder,

    folder(path: string): FolderState {
      sql('INSERT OR IGNORE INTO folders (path, modified, count, sum) VALUES (?, 0, 0, 0)').run(path)
      return knownFolder(path) as FolderState
    },

    folderModified(id: number, modified: number): void {
      sql('UPDATE folders SET modified = ? WHERE id = ?').run(modified, id)
    },

    /** The stamp of every file known in a folder; a file with several entries appears once for each. */
    stamps: (folder: number): Iterable<FileStamp & { name: string }> =>
      sql('SELECT name, size, modified, changed, inode FROM documents WHERE folder = ?').iterate(
        folder,
      ) as Iterable<FileStamp & { name: string }>,

    /**
     * If the content is unchanged, only the stamp is updated.
     *
     * @returns files that claim a key which this one gave up
     */
    putFile(file: IndexedFile): NamedFile[] {
      const known = fileRows(file.folder, file.name)
      const hash = contentHash(file.bytes)
      const [first] = known
      const before = first ? mixFile(file.name, first) : 0
      sums.addToFolder(file.folder, first ? 0 : 1, mixFile(file.name, file.stamp) - before)
      if (first && Buffer.compare(first.hash, hash) === 0) {
        const { size, modified, changed, inode } = file.stamp
        sql(
          'UPDATE documents SET size = ?, modified = ?, changed = ?, inode = ? WHERE folder = ? AND name = ?',
        ).run(size, modified, changed, inode, file.folder, file.name)
        // An entry without a time of its own takes its file's, and its expiry may count from that.
        const rows = rowsByKey(known, file.name)
        for (const { scope, namespace, key, created, updated, expires } of file.entries) {
          const id = rows
            .get(addressOf({ scope: scopeNumbers[scope], namespace: keptNamespace(namespace), key }))
            ?.pop()
          sql('UPDATE documents SET created = ?, updated = ?, expires = ? WHERE id = ?').run(
            created,
            updated,
            expires,
            id ?? -1,
          )
        }
        return []
      }
      documents.replace(file, known, hash)
      return known.flatMap((row) => (claims.isHeld(row) ? [] : claims.waitingFor(file.name, row)))
    },

    /** @returns files that claim a key which this file had */
    removeFile(folder: number, name: string): NamedFile[] {
      const known = fileRows(folder, name)
      const [first] = known
      if (!first) return []
      sums.addToFolder(folder, -1, stampModulus - mixFile(name, first))
      for (const row of known) documents.remove(row)
      return known.flatMap((row) => claims.waitingFor(name, row))
    },

    forgetHash(folder: number, name: string): void {
      sql("UPDATE documents SET hash = x'' WHERE folder = ? AND name = ?").run(folder, name)
    },

    /**
     * Empties the words of a scope, with all that FTS5 counts of them. Its files look changed then, so that they are
     * read again.
     *
     * @returns these files
     */
    dropWords(scope: MemoryScope): NamedFile[] {
      const number = scopeNumbers[scope]
      const holds = 'SELECT DISTINCT folder, name FROM documents WHERE scope = ?'
      const files = sql(holds).all(number) as unknown as NamedFile[]
      sql(`INSERT INTO words${number} (words${number}) VALUES ('delete-all')`).run()
      for (const { folder, name } of files) {
        const stamp = fileRows(folder, name)[0] as FileRow
        sums.addToFolder(folder, 0, mixFile(name, { ...stamp, changed: neverRead }) - mixFile(name, stamp))
        sql("UPDATE documents SET hash = x'', words = NULL, changed = ? WHERE folder = ? AND name = ?").run(
          neverRead,
          folder,
          name,
        )
      }
      sql('UPDATE folders SET modified = 0 WHERE id IN (SELECT folder FROM documents WHERE scope = ?)').run(
        number,
      )
      return files
    },

    displacedNotes: claims.displacedNotes,

    /** Notes that belong to nobody: neither their folder's name nor they themselves state the namespace. */
    unclaimedNotes: () =>
      sql(
        `SELECT f.path AS folder, d.name AS name, d.namespace AS namespace FROM documents d
         JOIN folders f ON f.id = d.folder
         WHERE d.namespace LIKE '%~%' AND instr(f.path, '/namespaces/' || d.namespace || '/') > 0
         ORDER BY folder, name`,
      ).all() as { folder: string; name: string; namespace: string }[],

    /** Files that could not be read completely, and why. */
    problems: () => withProblem(),

    /** Files that could not be read at the last look, for a reason that may pass. */
    unreadable: () => withProblem('AND d.scope = ? AND d.changed = ?', noScope, neverRead),

    /** Files that could not be read at all, for whatever reason. */
    unread: () => withProblem('AND d.scope = ?', noScope),

    hashes: () =>
      sql(
        'SELECT DISTINCT f.path AS folder, d.name AS name, d.hash AS hash FROM documents d JOIN folders f ON f.id = d.folder',
      ).all() as { folder: string; name: string; hash: Uint8Array }[],

    countFiles: (): number =>
      (sql('SELECT coalesce(sum(count), 0) AS n FROM folders').get() as { n: number }).n,
  }
}

const addressOf = ({ scope, namespace, key }: IndexedKey): string => JSON.stringify([scope, namespace, key])

/** The ids of a file's rows by what they claim: of several with the same key, the first is last. */
function rowsByKey(rows: readonly FileRow[], name: string): Map<string, number[]> {
  const ids = new Map<string, number[]>()
  for (const { id, scope, namespace, key } of rows.toReversed()) {
    const address = addressOf({ scope, namespace, key: claimedKey({ key, name }) })
    const known = ids.get(address)
    if (known) known.push(id)
    else ids.set(address, [id])
  }
  return ids
}
