import type { Clock, Embedder } from '@recall/core'
import type { Database } from '@recall/store-postgres'
import type { Authenticator, Principal } from './auth/principal.ts'
import type { HubConfig } from './config/config.ts'
import type { Limits } from './limits/rate-limits.ts'
import type { Retrieval } from './pipelines/note-retrievals.ts'

/** What the hub stands on. */
export interface HubParts {
  config: HubConfig
  database: Database
  embedder: Embedder
  clock: Clock
  limits: Limits
  auth: Authenticator
  /** Runs a call to the database, at most as long as configured; its failures become `MemoryError`s. */
  call<T>(run: () => Promise<T>): Promise<T>
}

/** What every part of the hub works with. */
export interface Hub extends HubParts {
  /** Returns when it is noted, together with what other searches found meanwhile. */
  noteRetrievals(retrieval: Retrieval): Promise<void>
}

/** What middleware leaves for the handlers. */
export interface HubEnv {
  Variables: { principal: Principal }
}
