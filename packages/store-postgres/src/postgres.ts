import {
  createMemoryManager,
  MemoryError,
  MemoryErrorCode,
  type MemoryManager,
  type MemoryManagerOptions,
  type TypesOf,
  type ValueSchemas,
} from '@recall/core'
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { parse } from 'postgres-array'
import { checkOptionsOfMemory, checkServerOptions } from './check-options.ts'
import type { Database } from './engines/database.ts'
import { type Address, openSocket } from './engines/open-socket.ts'
import { asMemoryErrors } from './engines/postgres-errors.ts'
import { keepTextConfiguration } from './engines/text-configuration.ts'
import { timeLimit } from './engines/time-limit.ts'
import { longestSilence, watchSilence } from './engines/watch-silence.ts'
import { migrate } from './migrate.ts'
import { createPostgresStore, type PostgresStoreOptions } from './postgres-store.ts'
import { createVectorIndexes, type VectorColumn } from './search/vector-index.ts'

export interface PostgresOptions {
  /** For example `postgres://user:password@host:5432/database`. */
  url: string
  /** Most connections. Default 10. */
  connections?: number | undefined
  /** Longest a statement may take, in milliseconds. Default 10,000. */
  timeoutMs?: number | undefined
  /** Whether to migrate the tables first. Default true. */
  migrations?: boolean | undefined
  /** Columns that need a vector index. It is created when missing, which takes minutes for many vectors. */
  indexed?: readonly VectorColumn[] | undefined
  /** Receives the server's notices, for people. */
  onNotice?: ((notice: string) => void) | undefined
}

export interface OpenDatabase {
  database: Database
  close(): Promise<void>
}

const connectTimeoutSeconds = 5
const defaultTimeoutMs = 10_000
/**
 * An open connection keeps its process alive. A process that leaves a memory open must not hang for ever; a caller that
 * returns later waits about 6 ms for a new connection.
 */
const idleMemorySeconds = 5

/**
 * Opens a pool of connections to a server.
 *
 * @throws MemoryError UNAVAILABLE when tables or indexes have to be made and the server cannot be reached,
 * NOT_SUPPORTED when they have to be made and this server cannot hold them, INVALID_INPUT when an option is not valid
 * or unknown
 */
export const openPostgres = (options: PostgresOptions): Promise<OpenDatabase> => openPool(options)

/** @param idleSeconds how long an unused connection stays open. Default: for ever */
async function openPool(options: PostgresOptions, idleSeconds?: number): Promise<OpenDatabase> {
  // A caller without type checks may pass no options.
  const { url, timeoutMs: limit = defaultTimeoutMs, ...server } = options ?? ({} as PostgresOptions)
  checkServerOptions(server)
  const { connections = 10, migrations = true, indexed = [], onNotice } = server
  const timeoutMs = timeLimit(limit)
  const settings = {
    connect_timeout: connectTimeoutSeconds,
    onnotice: (notice: postgres.Notice) => onNotice?.(String(notice.message)),
  }
  if (migrations || indexed.length > 0) {
    // No statement timeout: migrations and indexes may take minutes.
    const one = connect(url, { ...settings, max: 1 })
    try {
      const database = drizzle(one)
      if (migrations) await migrate(database)
      await asMemoryErrors(MemoryErrorCode.UNAVAILABLE, async () => {
        for (const column of indexed) await createVectorIndexes(database, column, { concurrently: true })
      })
    } finally {
      await one.end({ timeout: 5 })
    }
  }
  const closing = new AbortController()
  const { options: address } = connect(url, settings)
  const pool = connect(url, {
    ...settings,
    ...watchedSockets(address, longestSilence(timeoutMs), closing.signal),
    max: connections,
    keep_alive: 30,
    ...(idleSeconds === undefined ? {} : { idle_timeout: idleSeconds }),
    connection: {
      application_name: 'recall',
      statement_timeout: timeoutMs,
      // JIT compilation of a search takes several times as long as running it.
      jit: 'off',
      // A database may have other settings: dates would be misread, and a day might not have 24 hours.
      DateStyle: 'ISO',
      TimeZone: 'UTC',
    },
  })
  return {
    database: drizzle(pool),
    async close() {
      await pool.end({ timeout: 5 })
      closing.abort()
    },
  }
}

/**
 * Settings of a pool whose connections end when their server is silent. Of several servers only the driver knows which
 * one is next.
 */
function watchedSockets(address: Address, silenceMs: number, signal: AbortSignal): Settings {
  if (address.host.length > 1) return {}
  const settings = {
    ssl: false,
    async socket() {
      const socket = await openSocket(address, signal)
      watchSilence(socket, silenceMs)
      return socket
    },
  }
  // The types of the driver leave `socket` out.
  return settings as Settings
}

type Settings = NonNullable<Parameters<typeof postgres>[1]>

const textArray = 1009

/**
 * In postgres 3.4 nothing can catch the error when a new connection is lost while it asks the server for its array
 * types: the process ends. So the one array type that these tables use is named here.
 */
const knownTypes = {
  fetch_types: false,
  types: {
    texts: {
      to: textArray,
      from: [textArray],
      serialize: (literal: string) => literal,
      parse: (literal: string) => parse(literal),
    },
  },
}

/** Without a url the driver would use any server that the environment names, and its own error shows the password. */
function connect(url: string, settings: Settings): postgres.Sql {
  try {
    if (/^postgres(?:ql)?:\/\//.test(url)) return withoutHoles(postgres(url, { ...settings, ...knownTypes }))
  } catch {
    // Reported below, without the url.
  }
  throw new MemoryError(
    'url is not that of a Postgres server: it should look like postgres://user:password@host:5432/database, with characters such as # / @ % in the password percent-encoded',
    MemoryErrorCode.INVALID_INPUT,
  )
}

type PendingQuery = ReturnType<postgres.Sql['unsafe']> & { resolve(rows: unknown[]): void }

/**
 * In postgres 3.4 a statement that fails after some rows leaves as many holes before the rows of the next one on its
 * connection: existing entries would look absent. A transaction begins with a statement that has no rows.
 */
function withoutHoles(pool: postgres.Sql): postgres.Sql {
  const { unsafe } = pool
  pool.unsafe = (...call: Parameters<typeof unsafe>) => {
    const query = unsafe(...call) as PendingQuery
    const { resolve } = query
    query.resolve = (rows) => {
      const holes = rows.findIndex((row) => row !== undefined)
      if (holes > 0) rows.splice(0, holes)
      resolve(rows)
    }
    return query as never
  }
  return pool
}

export type PostgresMemoryOptions<Schemas extends ValueSchemas = ValueSchemas> = PostgresOptions &
  Pick<PostgresStoreOptions, 'textConfiguration'> &
  Omit<MemoryManagerOptions<Schemas>, 'stores'>

/**
 * Opens a memory on a Postgres server with pgvector.
 *
 * @throws MemoryError as `openPostgres` does; INVALID_INPUT before connecting to the server
 */
export async function openPostgresMemory<Schemas extends ValueSchemas = Record<never, never>>(
  options: PostgresMemoryOptions<Schemas>,
): Promise<MemoryManager<TypesOf<Schemas>>> {
  const given = options ?? ({} as PostgresMemoryOptions<Schemas>)
  const { url, connections, migrations, onNotice, indexed, textConfiguration, ...rest } = given
  const { timeoutMs = defaultTimeoutMs, ...memory } = rest
  const server = { connections, migrations, onNotice, indexed }
  checkServerOptions(server)
  checkOptionsOfMemory(textConfiguration, memory)
  const { embedder } = memory
  const units: VectorColumn[] = embedder ? [{ table: 'units', dimensions: embedder.dimensions }] : []
  const { database, close } = await openPool(
    { url, timeoutMs, ...server, indexed: [...units, ...(indexed ?? [])] },
    idleMemorySeconds,
  )
  try {
    await keepTextConfiguration(database, textConfiguration ?? null)
    return createMemoryManager({
      ...memory,
      stores: createPostgresStore(database, {
        timeoutMs,
        close,
        ...(textConfiguration ? { textConfiguration } : {}),
      }),
    })
  } catch (error) {
    await close()
    throw error
  }
}
