import type { Clock, Embedder } from '@recall/core'
import type { Database } from '@recall/store-postgres'
import type { Authenticator } from './access/authenticator.ts'
import type { Principal } from './access/principal.ts'
import type { Limits } from './access/rate-limits.ts'
import type { HubConfig } from './config/config.ts'
import type { DatabaseCalls } from './database-calls.ts'

/** The parts that the hub is built from. */
export interface HubParts extends DatabaseCalls {
  config: HubConfig
  database: Database
  embedder: Embedder
  clock: Clock
  limits: Limits
  auth: Authenticator
  /**
   * The URL under which agents reach the hub, without a slash at its end. For a hub that does not know its names, the
   * URL that a request used.
   */
  home(requested?: string): string
}

/** What a search returned, and to whom. */
export interface Retrieval {
  searcher: Principal
  query: string
  found: readonly { id: string; similarity: number; agentId: string; trustLevel: number }[]
}

/** What searches returned, on its way into the database. */
export interface RetrievalLog {
  /**
   * Runs a search. One that runs alone first waits until the earlier ones are nearly settled, so that its counts hold
   * what they returned. Searches that run at the same time have no order.
   */
  during<T>(search: () => Promise<T>): Promise<T>
  /** Begins to record a retrieval. Resolves at once, or a little later when too many are waiting. */
  note(retrieval: Retrieval): Promise<void>
  /** Resolves when everything noted before is recorded, or after a moment: nobody waits long for it. */
  nearlySettled(): Promise<void>
  /** Resolves when everything noted before is recorded. Never rejects. */
  settled(): Promise<void>
}

/** The context that every part of the hub works with. */
export interface Hub extends HubParts {
  retrievals: RetrievalLog
}

/** What the middleware sets for the handlers. */
export interface HubEnv {
  Variables: { principal: Principal }
}
