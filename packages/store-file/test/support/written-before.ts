import { join } from 'node:path'
import { conversationKey, conversationType, createMemoryManager, type Embedder } from '@recall/core'
import { defaultFileSystem } from '../../src/files/file-system.ts'
import { openFileStore } from '../../src/open-file-memory.ts'
import { readSeal, writeSeal } from '../../src/search-index/seal.ts'
import { loadSqlite } from '../../src/sqlite/driver.ts'

/** Fills a memory with one of each kind of file, and closes it. */
export async function writeBefore(root: string, embedder?: Embedder): Promise<void> {
  const options = embedder ? { embedder } : {}
  const memory = createMemoryManager({ stores: await openFileStore({ root, ...options }), ...options })
  await memory.write('long-term', 'note', 'The lighthouse stands at the harbour.', { tags: ['sea'] })
  await memory.write('long-term', 'list', { ferries: ['one', 'two'], at: 'the ferry' })
  await memory.write('long-term', 'MEMORY.md#tides', 'The tide turns at noon.')
  await memory.write(
    'episodic',
    conversationKey('s1'),
    {
      date: '2026-01-01T00:00:00.000Z',
      sessionId: 's1',
      messageCount: 2,
      duration: '1m',
      source: 'session',
      topics: ['ferry'],
      body: '## Summary\n\nThe ferry was late.\n\n### User\n\nWhere is it?\n\n### Assistant\n\nAt the harbour.\n',
    },
    { type: conversationType },
  )
  await memory.search('long-term', { text: 'harbour' })
  await memory.read('long-term', 'note')
  await memory.close()
}

/** Makes the index of a closed memory one of another version, with other tables, that was closed properly as well. */
export async function changeVersion(root: string, version: number): Promise<void> {
  const internal = join(root, 'memory/.recall')
  const seal = readSeal(defaultFileSystem, internal)
  const database = (await loadSqlite())(join(internal, 'index.db'))
  database.exec(`
    PRAGMA user_version = ${version};
    DROP TABLE words2;
    CREATE TABLE of_another_version (word TEXT);
    INSERT INTO of_another_version VALUES ('lighthouse');
    PRAGMA wal_checkpoint(TRUNCATE)`)
  database.close()
  if (seal) writeSeal(defaultFileSystem, internal, { documents: seal.documents, folders: seal.folders })
}
