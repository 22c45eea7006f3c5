import { chmodSync, realpathSync } from 'node:fs'
import type { PGlite, PGliteOptions } from '@electric-sql/pglite'
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { vector } from '@electric-sql/pglite-pgvector'
import {
  createMemoryManager,
  isMemoryError,
  MemoryError,
  MemoryErrorCode,
  type MemoryManager,
  type MemoryManagerOptions,
  refuseUnknownOptions,
  type TypesOf,
  type ValueSchemas,
} from '@recall/core'
import { createFolder, errorCode } from '@recall/core/process'
import { drizzle } from 'drizzle-orm/pglite'
import { checkOptionsOfMemory, refuse } from './check-options.ts'
import { dataIn, holdsData, makeData, onlyMe } from './engines/data-folder.ts'
import type { Database } from './engines/database.ts'
import { createEngine, type Engine } from './engines/embedded-engine.ts'
import { lockFolder } from './engines/folder-lock.ts'
import { asMemoryErrors } from './engines/postgres-errors.ts'
import { SyncingFiles, syncingStartParams } from './engines/syncing-files.ts'
import { keepTextConfiguration } from './engines/text-configuration.ts'
import { migrate } from './migrate.ts'
import { createPostgresStore, type PostgresStoreOptions } from './postgres-store.ts'
import { createVectorIndexes, type VectorColumn } from './search/vector-index.ts'

export interface EmbeddedOptions {
  /** The folder of the database and its lock, created when missing. Without one everything is kept in memory. */
  folder?: string | undefined
  /** A dump from which a new database is made, instead of an empty one. Ignored when the database exists already. */
  template?: Blob | undefined
}

export interface EmbeddedDatabase {
  database: Database
  /** A dump of all data, from which another database can start. */
  dump(): Promise<Blob>
  /** Closes it once, however often it is called. */
  close(): Promise<void>
}

/** Whether `openPglite` has made a database in a folder; does not create the folder. */
export const isPgliteFolder = (folder: string): boolean => holdsData(dataIn(folder))

/**
 * Opens a Postgres inside this process. In a folder it is as durable as a server: a write returns when it is on disk.
 * It has one connection, so calls take turns, and it belongs to one process: a second opener of the folder is refused.
 * Only the user that runs the process can read the data.
 *
 * @throws MemoryError CONFLICT when a living process has the folder open, CORRUPTION when Postgres does not start with
 * the existing data, UNAVAILABLE when the folder cannot be made or used, INVALID_INPUT when it is not a path, or the
 * template is not a dump
 */
export async function openPglite(options: EmbeddedOptions = {}): Promise<EmbeddedDatabase> {
  const { folder, template, ...others } = options
  refuseUnknownOptions(others)
  if (template !== undefined && typeof template?.arrayBuffer !== 'function')
    refuse('template', 'must be a dump, as a Blob')
  if (folder === undefined) return start(await createEngine(optionsOf(template), undefined))
  try {
    return await openFolder(placeOf(folder), template)
  } catch (cause) {
    if (isMemoryError(cause)) throw cause
    throw new MemoryError(
      `${folder} cannot be used (${errorCode(cause) ?? cause}): check that this user may read and write everything in it`,
      MemoryErrorCode.UNAVAILABLE,
      { cause, details: { path: folder } },
    )
  }
}

async function openFolder(root: string, template: Blob | undefined): Promise<EmbeddedDatabase> {
  const lock = lockFolder(root)
  try {
    const data = dataIn(root)
    if (!holdsData(data)) {
      await makeData(data, async (unfinished) => (await openIn(unfinished, template)).close())
    }
    // PGlite makes its files readable by everybody, and a copy of a folder may have another mode.
    chmodSync(data, onlyMe)
    return await openIn(data, undefined, lock.release)
  } catch (error) {
    lock.release()
    throw error
  }
}

/** The real path of the folder, which is made when it is missing. */
function placeOf(folder: string): string {
  if (typeof folder !== 'string' || folder === '') {
    throw new MemoryError(
      'folder is the path of the folder of the database, a non-empty string; leave it out to keep everything in memory',
      MemoryErrorCode.INVALID_INPUT,
    )
  }
  createFolder(folder, onlyMe)
  return realpathSync(folder)
}

async function openIn(
  data: string,
  template: Blob | undefined,
  release?: () => void,
): Promise<EmbeddedDatabase> {
  const files = { fs: new SyncingFiles(data), startParams: syncingStartParams }
  return start(await createEngine({ ...files, ...optionsOf(template) }, data), release)
}

const optionsOf = (template: Blob | undefined): PGliteOptions => ({
  ...(template ? { loadDataDir: template } : {}),
  extensions: { vector, btree_gin, pg_trgm },
})

/** @param release runs once it is closed */
async function start(engine: Engine, release = () => {}): Promise<EmbeddedDatabase> {
  const database = drizzle(engine as PGlite)
  try {
    await migrate(database)
  } catch (error) {
    await engine.close()
    throw error
  }
  let closing: Promise<void> | undefined
  return {
    database,
    dump: () => engine.dumpDataDir('none'),
    close() {
      closing ??= engine.close().finally(release)
      return closing
    },
  }
}

export type PgliteMemoryOptions<Schemas extends ValueSchemas = ValueSchemas> = EmbeddedOptions &
  Pick<PostgresStoreOptions, 'textConfiguration'> &
  Omit<MemoryManagerOptions<Schemas>, 'stores'>

/**
 * Opens a memory on a Postgres inside this process.
 *
 * @throws MemoryError as `openPglite` does; INVALID_INPUT before a folder or a database is made
 */
export async function openPgliteMemory<Schemas extends ValueSchemas = Record<never, never>>(
  options: PgliteMemoryOptions<Schemas> = {},
): Promise<MemoryManager<TypesOf<Schemas>>> {
  const { folder, template, textConfiguration, ...memory } = options
  checkOptionsOfMemory(textConfiguration, memory)
  const { database, close } = await openPglite({ folder, template })
  try {
    await keepTextConfiguration(database, textConfiguration ?? null)
    if (memory.embedder) {
      const units: VectorColumn = { table: 'units', dimensions: memory.embedder.dimensions }
      await asMemoryErrors(MemoryErrorCode.UNAVAILABLE, () =>
        createVectorIndexes(database, units, { concurrently: false }),
      )
    }
    return createMemoryManager({
      ...memory,
      stores: createPostgresStore(database, {
        name: 'pglite',
        durable: folder !== undefined,
        close,
        ...(textConfiguration ? { textConfiguration } : {}),
      }),
    })
  } catch (error) {
    await close()
    throw error
  }
}
