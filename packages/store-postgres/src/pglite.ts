import { realpathSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin'
import { vector } from '@electric-sql/pglite-pgvector'
import { createMemoryManager, type MemoryManager, type MemoryManagerOptions } from '@recall/core'
import { drizzle } from 'drizzle-orm/pglite'
import type { Database } from './database.ts'
import { lockFolder } from './folder-lock.ts'
import { migrate } from './migrate.ts'
import { createPostgresStore } from './postgres-store.ts'
import { createVectorIndex } from './vector-index.ts'

export interface PgliteOptions {
  /** Holds the database and its lock; made when it is missing. Without one everything is kept in memory. */
  folder?: string
  /** A dump of a data directory to start from, instead of an empty one. */
  template?: Blob
}

export interface EmbeddedDatabase {
  database: Database
  /** Everything as it stands, to start another database from. */
  dump(): Promise<Blob>
  close(): Promise<void>
}

/**
 * Postgres inside this process. It has one connection, so calls take turns, and one process: a second opener of
 * the folder is refused.
 *
 * @throws MemoryError CONFLICT when a living process has the folder open
 */
export async function openPglite({ folder, template }: PgliteOptions = {}): Promise<EmbeddedDatabase> {
  if (folder !== undefined) await mkdir(folder, { recursive: true })
  const root = folder === undefined ? undefined : realpathSync(folder)
  const lock = root === undefined ? undefined : lockFolder(root)
  try {
    const engine = await PGlite.create({
      ...(root === undefined ? {} : { dataDir: join(root, 'data') }),
      ...(template ? { loadDataDir: template } : {}),
      extensions: { vector, btree_gin },
    })
    const database = drizzle(engine)
    await migrate(database)
    return {
      database,
      dump: () => engine.dumpDataDir('none'),
      async close() {
        await engine.close()
        lock?.release()
      },
    }
  } catch (error) {
    lock?.release()
    throw error
  }
}

export type PgliteMemoryOptions = PgliteOptions & Omit<MemoryManagerOptions, 'stores'>

/** A memory on Postgres inside this process. */
export async function openPgliteMemory(options: PgliteMemoryOptions = {}): Promise<MemoryManager> {
  const { database, close } = await openPglite(options)
  if (options.embedder) {
    await createVectorIndex(database, 'entries', options.embedder.dimensions, { concurrently: false })
  }
  const durable = options.folder !== undefined
  return createMemoryManager({
    ...options,
    stores: createPostgresStore(database, { name: 'pglite', durable, close }),
  })
}
