import type { MemoryScope } from './scope.ts'

/**
 * The interface of every memory, whether it is backed by files, Postgres or a hub over HTTP.
 *
 * A manager is bound to one namespace (a person, an entity, an agent) and no call can see another one.
 * All times are milliseconds since the epoch. All failures are `MemoryError`. After `close()` every call
 * rejects with `CLOSED`.
 */
export interface MemoryManager<Schemas extends ValueTypes = ValueTypes> extends AsyncDisposable {
  readonly namespace: string
  /** What the store behind each scope can do. A call that needs more is refused with `NOT_SUPPORTED`. */
  readonly capabilities: Readonly<Record<MemoryScope, Capabilities>>

  /**
   * Keeps a JSON value under a key. When the promise resolves the value is as durable as the store can
   * make it. Secrets in the value are replaced before anything else sees it, unless `redact` says otherwise.
   *
   * @throws INVALID_INPUT (not JSON, bad key or option, schema mismatch, secrets that are to be rejected), CONFLICT
   * (`overwrite: false` and the key exists), NOT_SUPPORTED (`encrypt` without a key, a vector where none is kept),
   * QUOTA_EXCEEDED, what the embedder throws (UNAVAILABLE, TIMEOUT, RATE_LIMITED), WRITE_FAILED, CLOSED
   */
  write<T, S extends MemoryScope = MemoryScope, K extends string = string>(
    scope: S,
    key: K,
    value: T & RegisteredValue<Schemas, S, K>,
    options?: WriteOptions,
  ): Promise<void>

  /**
   * The value, or `null` when the key is absent or expired. Counts as an access: it slides the expiry.
   *
   * @throws CORRUPTION when stored bytes do not parse or do not match the schema given for the key
   */
  read<S extends keyof Schemas & MemoryScope, K extends keyof Schemas[S] & string>(
    scope: S,
    key: K,
    options: ReadOptions & { includeMetadata: true },
  ): Promise<MemoryRecord<Schemas[S][K]> | null>
  read<S extends keyof Schemas & MemoryScope, K extends keyof Schemas[S] & string>(
    scope: S,
    key: K,
    options?: ReadOptions & { includeMetadata?: false | undefined },
  ): Promise<Schemas[S][K] | null>
  read<T = unknown>(
    scope: MemoryScope,
    key: string,
    options: ReadOptions & { includeMetadata: true },
  ): Promise<MemoryRecord<T> | null>
  read<T = unknown>(
    scope: MemoryScope,
    key: string,
    options?: ReadOptions & { includeMetadata?: false | undefined },
  ): Promise<T | null>
  read<T = unknown>(
    scope: MemoryScope,
    key: string,
    options?: ReadOptions,
  ): Promise<T | MemoryRecord<T> | null>

  /**
   * Entries that match all parts of the query, best first. Expired entries never count towards `limit`. Returned
   * entries count as accessed unless `touch` is false.
   *
   * @throws INVALID_INPUT, NOT_SUPPORTED (an embedding where no vectors are kept, the archive where there is none),
   * CONFLICT (the stored vectors are from another model), CORRUPTION as `read`, what the embedder throws, SEARCH_FAILED
   */
  search<T = unknown>(
    scope: MemoryScope,
    query: SearchQuery,
    options?: SearchOptions,
  ): Promise<MemoryMatch<T>[]>

  /**
   * Removes the entries of one scope that match all parts of the filter; without a filter, all of them.
   *
   * @throws UNAVAILABLE, with nothing removed, while the store cannot check all of them
   */
  clear(scope: MemoryScope, filter?: ClearFilter): Promise<void>

  /** Removes one entry. Removing an absent key is not an error. */
  delete(scope: MemoryScope, key: string): Promise<void>

  /** Whether the key holds an unexpired entry. Does not count as an access. */
  exists(scope: MemoryScope, key: string): Promise<boolean>

  /**
   * Removes expired entries, archives episodes older than 90 days if the store has an archive, and with a
   * `threshold` evicts the least recently used short-term entries; in one scope or in all. Failures are listed
   * in `errors` and the rest goes on. After a crash the next clean-up finishes the work.
   */
  cleanup(options?: CleanupOptions): Promise<CleanupResult>

  /**
   * The values of the keys that exist, of at most 10,000; absent keys are absent from the map. Counts as an access to
   * each.
   *
   * @throws as `read`; also INVALID_INPUT
   */
  batchRead<T = unknown>(scope: MemoryScope, keys: readonly string[]): Promise<Map<string, T>>

  /**
   * At most 10,000 writes to one scope, all or none.
   *
   * @throws as `write`; INVALID_INPUT also when a key appears twice
   */
  batchWrite(scope: MemoryScope, writes: readonly BatchWrite[]): Promise<void>

  /**
   * Applies at most 10,000 sets and deletes in one scope, all or none, even when the process dies in the middle. If a
   * deleted key exists only in the archive, its copy is removed last, after everything else.
   *
   * @throws as `batchWrite`; CONFLICT also when an entry was written since its `ifUpdatedAt`
   */
  atomicUpdate(scope: MemoryScope, updates: readonly AtomicUpdate[]): Promise<void>

  /**
   * Moves an archived entry back into the store. Being a write, it moves `updatedAt`.
   *
   * @returns whether the key was archived
   * @throws CONFLICT when another value was written under the key meanwhile, QUOTA_EXCEEDED
   */
  restore(scope: MemoryScope, key: string): Promise<boolean>

  /** Waits for the calls under way, then releases files, connections and timers. Calling it again does nothing. */
  close(): Promise<void>
}

/** Value types by scope and key, for a manager that was given schemas. */
export type ValueTypes = { [Scope in MemoryScope]?: Record<string, unknown> }

/** The type that is registered for a key; `unknown` for any other key. */
export type RegisteredValue<Schemas extends ValueTypes, S extends MemoryScope, K extends string> = (Schemas &
  Record<MemoryScope, Record<string, unknown>>)[S][K]

/** What the store of a scope can do. */
export interface Capabilities {
  /** Entries outlive the process. */
  readonly durable: boolean
  /** Vectors that callers give are kept, and entries can be found by one. */
  readonly semantic: boolean
  /** The store embeds its entries itself, with the embedder it was given, so a text query also finds by meaning. */
  readonly meaning?: boolean
  /** Old entries can be archived and restored. `createMemoryManager` sets it when the store has a cold store. */
  readonly archive?: boolean
}

export interface WriteOptions {
  /**
   * Milliseconds until the entry expires, counted from the last access, at most 1e14, rounded up to a whole number.
   * `Infinity` keeps it for ever. Default: 1 hour in `short-term`, for ever elsewhere.
   */
  ttl?: number | undefined
  /** Default true. With `false` an existing key is a `CONFLICT`. */
  overwrite?: boolean | undefined
  /**
   * Encrypt the value at rest. It is then found by key, tags and type only. Without an encryption key the write
   * is refused with NOT_SUPPORTED, never stored as plain text.
   */
  encrypt?: boolean | undefined
  /** Default true. With `false` the value is not found by text or embedding, only by key, tags and filters. */
  index?: boolean | undefined
  /** At most 256, each of at most 256 characters. */
  tags?: readonly string[] | undefined
  /** For example `playbook`. Default: the value's own string member `type`, if it has one. */
  type?: string | undefined
  /** What to find the value by, instead of its own strings. */
  text?: string | undefined
  /** A vector of the value made by the caller, of at most 16,000 numbers; needs a store that keeps vectors. */
  embedding?: readonly number[] | Float32Array | undefined
}

export interface ReadOptions {
  /** Default true. With `false` an encrypted value is returned as its envelope. */
  decrypt?: boolean | undefined
  /** Return `{ value, metadata }` instead of the value. */
  includeMetadata?: boolean | undefined
  /**
   * Return an archived value when the key holds nothing else; this does not count as an access. Refused with
   * NOT_SUPPORTED where there is no archive.
   */
  includeArchived?: boolean | undefined
}

export interface MemoryRecord<T> {
  value: T
  metadata: MemoryMetadata
  /** Set when the entry lies in the archive: `restore` brings it back. */
  archived?: true
}

/** What a memory knows about an entry besides its value. Times are milliseconds since the epoch. */
export interface MemoryMetadata {
  key: string
  scope: MemoryScope
  namespace: string
  type: string | null
  tags: string[]
  /** When the key was first written: overwriting keeps it. */
  createdAt: number
  /** When it was last written: every write moves it. */
  updatedAt: number
  /** When it was last read, found or written. */
  accessedAt: number
  accessCount: number
  /** `null` when it is kept for ever. */
  expiresAt: number | null
  encrypted: boolean
  /** Model of the stored vector, if there is one. */
  embeddingModel: string | null
  /** 0..1, when the value carries a `successRate`. */
  successRate: number | null
}

/** All parts that are given must hold. An empty query matches every entry of the scope. */
export interface SearchQuery {
  /**
   * Words to find, in at most 10,000 characters. Of more than 16 words, only the rarest 16 that the memory holds are
   * searched for.
   */
  text?: string | undefined
  /** Conditions on the value's members and on metadata; see `parseFilter` for the language. */
  filters?: Record<string, unknown> | undefined
  /** A vector to be near to, of at most 16,000 numbers. Only entries with vectors of its length are found by it. */
  embedding?: readonly number[] | Float32Array | undefined
  /** Tags, all of which an entry must carry. */
  tags?: readonly string[] | undefined
}

export interface SearchOptions {
  /** 1..1000, default 10. */
  limit?: number | undefined
  /** Matches to skip, default 0. */
  offset?: number | undefined
  /** Default `relevance` when there is text or an embedding, otherwise `recency`. */
  sortBy?: 'relevance' | 'recency' | 'accessCount' | undefined
  /** Default `desc`. */
  sortOrder?: 'asc' | 'desc' | undefined
  /** Leave out matches that score below this, 0..1. */
  minScore?: number | undefined
  /**
   * Find nothing when the best match of the search has a `confidence` below this, 0..1. It decides for every page.
   * Default 0; needs a text.
   *
   * About half of the answers with a confidence of 0.5 have the evidence among their first five matches. With meaning,
   * 0.2 refused 8 to 21 % of the questions about conversations whose evidence was missing, at a cost of up to 3 points
   * of recall for the others; for short facts, 55 % at a cost of 10 points (`docs/decisions/0015-confidence.md`). A
   * page beyond the first ten matches, or in any order other than best first, takes two searches.
   */
  minConfidence?: number | undefined
  /** Default true. With `false` the search leaves no trace in access counts and expiry. */
  touch?: boolean | undefined
  /** Add each signal's share to every match. */
  explain?: boolean | undefined
  /** 1..50: add this many of the best passages to every match, each with its own score. */
  passages?: number | undefined
  /** Search the archive as well: slower. Refused with NOT_SUPPORTED where there is none. */
  includeArchived?: boolean | undefined
  /**
   * Default true: a search that finds an encrypted value whose key was not supplied is refused with NOT_SUPPORTED. With
   * `false` encrypted values are returned as their envelopes.
   */
  decrypt?: boolean | undefined
}

export interface MemoryMatch<T> {
  key: string
  value: T
  /**
   * Relevance compared with the other matches of the search, 0..1; 1 when the query has neither text nor embedding. To
   * order the matches of several searches for one question, for example in several scopes, use `surestFirst`.
   */
  score: number
  /**
   * Likelihood, 0..1, that the memory holds the answer; only in a search by text. The first match's confidence is
   * that of the whole answer: below about 0.2 it is better to answer nothing, below 0.15 where `mode` is `lexical`.
   */
  confidence?: number
  metadata: MemoryMetadata
  /** How the match was found; `lexical` when no vectors took part. */
  mode: SearchMode
  /** Where in the value the match was found. */
  passage?: MatchedPassage
  /** With `passages`: the best ones, best first. */
  passages?: MatchedPassage[]
  /** Set when the match lies in the archive: `restore` brings it back. */
  archived?: true
  /** With `explain`: what each signal contributed; the shares add up to `score`. */
  signals?: Record<string, number>
}

/** What found a match: words, a vector, both, or filters and tags alone. */
export type SearchMode = 'lexical' | 'semantic' | 'hybrid' | 'filter'

export interface MatchedPassage {
  /** The matching turn, section or paragraph. */
  text: string
  /** File that holds it, relative to the memory's root, where there is one. */
  path?: string
  /**
   * First line of the passage in that file, counted from 1. If its text does not appear there verbatim, because it was
   * made from the value's members or given by `text`, the line on which the value begins.
   */
  line?: number
  /** The passages just before and after it. */
  neighbours?: string[]
  /** Relevance of this passage alone, 0..1. */
  score?: number
  /** Like a match's confidence, for this passage alone. */
  confidence?: number
}

/**
 * All parts that are given must hold. A part that is `undefined` is refused, because ignoring it would clear all
 * entries.
 */
export interface ClearFilter {
  /** Entries last written before this time. */
  olderThan?: number
  /** Entries that carry all of these tags. */
  tags?: readonly string[]
  type?: string
}

export interface CleanupOptions {
  /** Default: all scopes. */
  scope?: MemoryScope | undefined
  /** Count without deleting. */
  dryRun?: boolean | undefined
  /**
   * 0 (default) removes what has expired. Above 0, up to 1: also evict from short-term memory, by last access,
   * until at most this share of its quota is used. Other scopes are never evicted.
   */
  threshold?: number | undefined
  /** Archive episodes last written before this time. Default: 90 days ago. */
  archiveBefore?: number | undefined
}

export interface CleanupResult {
  /** Entries that had expired or were evicted. */
  deleted: number
  archived: number
  errors: CleanupError[]
  /** Milliseconds. */
  duration: number
}

export interface CleanupError {
  scope: MemoryScope
  key?: string
  message: string
}

export interface BatchWrite {
  key: string
  value: unknown
  options?: WriteOptions | undefined
}

/**
 * `ifUpdatedAt` is the `updatedAt` that was read from the metadata. If the entry was written since, the whole call
 * fails with CONFLICT and changes nothing. A `value` next to `delete` is ignored, so that both kinds can share one
 * shape.
 */
export type AtomicUpdate =
  | {
      operation: 'set'
      key: string
      value: unknown
      options?: WriteOptions | undefined
      ifUpdatedAt?: number
      /**
       * Keeps the options of the version named by `ifUpdatedAt` where the update gives none: TTL, tags, type,
       * encryption, and the text and vector that it was given to be found by. Default false: such options get their
       * defaults.
       */
      keepOptions?: boolean | undefined
    }
  | { operation: 'delete'; key: string; value?: unknown; ifUpdatedAt?: number }
