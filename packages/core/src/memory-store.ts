import type { Filter } from './filter/filter.ts'
import type { JsonValue } from './json.ts'
import type { Capabilities, MatchedPassage, SearchMode } from './memory-manager.ts'
import type { MemoryScope } from './scope.ts'

/**
 * The interface of a store. The front (`createMemoryManager`) validates, redacts, stamps times and turns TTLs into
 * instants before it calls: a store may trust its input and only does I/O.
 *
 * Failures are thrown as `MemoryError` where the store knows the code; the front wraps anything else as WRITE_FAILED or
 * SEARCH_FAILED. A store never returns a default in place of an error.
 */
export interface MemoryStore {
  /** For people, for example `file`. */
  readonly name: string
  readonly capabilities: Capabilities
  /** Where old episodes go. Without one nothing is archived, and asking for the archive is refused. */
  readonly cold?: ColdStore

  /**
   * Keeps one entry. Durable, where the store is durable, before the promise resolves. An entry that replaces an
   * unexpired one takes over its `createdAt` and `accessCount`, and its `updatedAt` is later than that one's.
   */
  put(entry: Entry, options: PutOptions): Promise<void>

  /** The entry, or `null` when it is absent or expired at `now`. */
  get(address: Address, now: number): Promise<Entry | null>

  /** Entries that match, best first; expired ones are excluded before `limit` counts. */
  find(query: StoreQuery): Promise<Found[]>

  /**
   * Records an access at `now` and slides the expiry of entries that have a `ttl`. Absent entries are ignored.
   * All addresses are of one place; a repeated address counts twice. Accesses may arrive in any order, and after a write
   * that replaced the entry: neither the expiry nor the last access moves back.
   */
  touch(addresses: readonly Address[], now: number): Promise<void>

  /** Whether there was anything to remove. */
  remove(address: Address): Promise<boolean>

  /** Removes what matches; returns how many. */
  removeAll(selection: Selection): Promise<number>

  /**
   * Applies all changes or none, also across a crash. A change whose `expected` no longer holds is a CONFLICT, decided
   * in the same step that writes; if it holds, `updatedAt` is stored as given.
   */
  commit(changes: readonly Change[]): Promise<void>

  /** Removes entries that expired before `now` (with `dryRun` only counts); returns how many. */
  sweep(selection: SweepSelection): Promise<number>

  /** What is kept in a scope, expired entries included. Must be cheap: it is called before writes. */
  stats(place: Place): Promise<StoreStats>

  /**
   * A short text that changes with every write of the entry, by any process, and is far cheaper to get than the
   * entry; `null` when the key is absent. Entries of a store without stamps are not cached.
   */
  stamp?(address: Address): Promise<string | null>

  close(): Promise<void>
}

/**
 * Keeps archived entries: slower, but cheaper. `put` keeps an entry as it is, with all its times and its access count.
 * A moving entry is always in at least one of the two, even if another process writes, moves or deletes it meanwhile.
 * After a crash it may be in both: the original hides the copy, and the next move finishes.
 */
export interface ColdStore
  extends Pick<MemoryStore, 'name' | 'put' | 'get' | 'find' | 'remove' | 'removeAll' | 'sweep' | 'close'> {
  /**
   * Applies changes as a store does, with two exceptions: if all of them are removals without `expected`, a failure may
   * leave some of them made; and an archive may refuse several other changes at once with NOT_SUPPORTED.
   */
  commit(changes: readonly Change[]): Promise<void>

  /**
   * Moves unexpired entries that were last written before a time into the archive (with `dryRun` only counts),
   * replacing earlier copies. Entries that are written or deleted meanwhile are left alone.
   */
  archive(selection: ArchiveSelection): Promise<ArchiveRun>

  /**
   * Moves an entry back. `now` becomes the time of its last write, so that it is not archived again at once. If the
   * store already holds the same value, only the copy is removed.
   *
   * @returns whether the key was archived
   * @throws MemoryError CONFLICT when the store holds another value under the key
   */
  restore(address: Address, now: number): Promise<boolean>
}

/** Which entries to archive. */
export interface ArchiveSelection extends Place {
  /** Entries last written before this time. */
  before: number
  now: number
  dryRun: boolean
  /** Most entries to move. Default: all. */
  limit?: number
}

export interface ArchiveRun {
  archived: number
  /** Entries that could not be moved, and why; they stay where they were. */
  errors: { key: string; message: string }[]
}

/** One scope of one namespace: no call sees entries of two places. */
export interface Place {
  namespace: string
  scope: MemoryScope
}

/** Where one entry is: no two have the same. */
export interface Address extends Place {
  key: string
}

/** An entry as a store keeps it. All times are milliseconds since the epoch. */
export interface Entry extends Address {
  value: JsonValue
  /** The text that the entry is found by; empty when it is not indexed. */
  text: string
  type: string | null
  tags: string[]
  createdAt: number
  updatedAt: number
  accessedAt: number
  accessCount: number
  /** Milliseconds from an access to the expiry, or `null`. */
  ttl: number | null
  expiresAt: number | null
  encrypted: boolean
  /** One vector for the whole text, and one per unit when the text has several (see `splitUnits`). */
  embedding: { model: string; vector: number[]; units?: number[][] } | null
}

export interface PutOptions {
  /** When false, an existing unexpired key is a CONFLICT. */
  overwrite: boolean
  /** The time of the call: what has expired by then counts as absent. */
  now: number
}

/** One step of a `commit`. */
export type Change =
  | { put: Entry; options: PutOptions; expected?: Expected }
  | { remove: Address; expected?: Expected }

/** The version of an entry that a change was made for. If the entry was written since, the change is refused. */
export interface Expected {
  updatedAt: number
  /** Compared too when given, because two writes may share a millisecond. */
  value?: JsonValue
}

/** A search, with all defaults filled in. All parts that are given must hold, as in `SearchQuery`. */
export interface StoreQuery extends Place {
  /** Not blank. Days that the question names are spelled out the way texts write them. */
  text?: string
  filter?: Filter
  tags?: readonly string[]
  embedding?: {
    model: string | null
    vector: readonly number[]
    /** Mean and deviation of the cosine of texts that have nothing in common, if the model declares them. */
    unrelated?: { mean: number; deviation: number }
  }
  /** How many passages of each entry to cut out. Default: the best one. */
  passages?: number
  limit: number
  offset: number
  /** `lastAccess` orders by `accessedAt`: ascending puts the least recently used entry first. */
  sortBy: 'relevance' | 'recency' | 'accessCount' | 'lastAccess'
  sortOrder: 'asc' | 'desc'
  minScore: number
  now: number
}

/** A match of `find`. */
export interface Found {
  /** Its embedding may be without the vectors of its units: `get` reads them. */
  entry: Entry
  score: number
  /** Set by a search by text, as `rankUnits` computes it. */
  confidence?: number
  mode: SearchMode
  /** Share of each signal in `score`, by name; none without a text and a vector. */
  signals: Record<string, number>
  passage?: MatchedPassage
  /** Best first, when the query asked for several. */
  passages?: MatchedPassage[]
}

/** The entries of a place for which all parts that are given hold; without any, all of them. */
export interface Selection extends Place {
  /** Entries last written before this time. */
  updatedBefore?: number
  /** Entries that carry all of these tags. */
  tags?: readonly string[]
  type?: string
}

export interface SweepSelection extends Place {
  now: number
  dryRun: boolean
}

export interface StoreStats {
  entries: number
  /** Sum of `jsonBytes(value)`: the values as compact JSON in UTF-8. */
  bytes: number
}
