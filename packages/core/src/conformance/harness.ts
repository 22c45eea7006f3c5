import type { Clock } from '../clock.ts'
import type { Embedder } from '../embedder.ts'
import type { MemoryPolicies } from '../front/create-memory-manager.ts'
import type { KeyRing } from '../front/encryption.ts'
import type { MemoryManager } from '../memory-manager.ts'
import type { RedactPolicy } from '../redaction/redactor.ts'
import type { ValueSchemas } from '../schemas.ts'
import type { Ticker } from './ticker.ts'

/** How a store is put under test: `describeMemory('file', harness)`. */
export interface Harness {
  /** A fresh, empty memory. Called once for every law, never twice at the same time. */
  open(options: HandleOptions): Promise<MemoryManager>
  /**
   * One more handle on the data of the memory that was opened last, as a second process or a restart would open
   * it. Earlier handles may still be open.
   */
  reopen(options: HandleOptions): Promise<MemoryManager>
  /**
   * Runs before each call of a law unless another call is running. It may delete the index, for example, which must not
   * matter.
   */
  between?(): Promise<void>
  /** Runs after every law, when all handles are closed. */
  dispose?(): Promise<void>
}

export interface HandleOptions {
  clock: Clock
  /** Default `default`. */
  namespace?: string
  schemas?: ValueSchemas
  embedder?: Embedder
  redact?: RedactPolicy
  policies?: MemoryPolicies
  encryptionKey?: Uint8Array | KeyRing
}

/** What a law works with. */
export interface Fixture {
  memory: MemoryManager
  time: Ticker
  /** Opens one more handle on the same data; closed after the law. */
  reopen(options?: Partial<HandleOptions>): Promise<MemoryManager>
}

export interface Law {
  /** One sentence, which is repeated in docs/contract.md. */
  title: string
  options?: Partial<HandleOptions>
  holds(fixture: Fixture): Promise<void>
}

export interface Theme {
  title: string
  laws: readonly Law[]
}

export function law(title: string, holds: Law['holds'], options?: Law['options']): Law {
  return options ? { title, options, holds } : { title, holds }
}
