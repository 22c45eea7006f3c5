import type { Clock, Embedder } from '@recall/core'
import type { Database } from '@recall/store-postgres'
import type { Authenticator, Principal } from './auth/principal.ts'
import type { HubConfig } from './config/config.ts'
import type { Limits } from './limits/rate-limits.ts'
import type { RetrievalLog } from './pipelines/note-retrievals.ts'

/** The parts that the hub is built from. */
export interface HubParts {
  config: HubConfig
  database: Database
  embedder: Embedder
  clock: Clock
  limits: Limits
  auth: Authenticator
  /** Runs a call to the database under the configured timeout; its failures become `MemoryError`s. */
  call<T>(run: () => Promise<T>): Promise<T>
  /** Like `call`, for a search of all memories. Searches wait in line, and leave a connection free for short calls. */
  search<T>(run: () => Promise<T>): Promise<T>
}

/** Receives log lines about requests and failures. They never hold a key, a query or a memory. */
export type Log = (line: Record<string, unknown>) => void

/** The context that every part of the hub works with. */
export interface Hub extends HubParts {
  retrievals: RetrievalLog
}

/** What the middleware sets for the handlers. */
export interface HubEnv {
  Variables: { principal: Principal }
}
