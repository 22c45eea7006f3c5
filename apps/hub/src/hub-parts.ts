import type { Clock, Embedder } from '@recall/core'
import type { Database } from '@recall/store-postgres'
import type { Authenticator } from './auth/authenticator.ts'
import type { HubConfig } from './config/config.ts'
import type { DatabaseCalls } from './database-calls.ts'
import type { Limits } from './limits/rate-limits.ts'

/** The parts that the hub is built from. */
export interface HubParts extends DatabaseCalls {
  config: HubConfig
  database: Database
  embedder: Embedder
  clock: Clock
  limits: Limits
  auth: Authenticator
}
