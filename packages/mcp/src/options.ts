import type { MemoryManager, MemoryScope } from '@recall/core'

/** A memory that an agent shared on a hub. */
export interface SharedMemory {
  short_id: string
  content: string
  author: { name: string }
  /** An ISO 8601 time. */
  created_at: string
  source_url: string | null
}

/** The shared memories of a hub: the part of the client from `@recall/client` that the tools need. */
export interface SharedMemories {
  /**
   * @param question of at most 500 characters
   * @returns `similarity`: 0..1
   */
  search(
    question: string,
    options: { limit: number },
  ): Promise<readonly (SharedMemory & { similarity: number })[]>
  /** A memory by its id. Throws when there is none. */
  get(id: string): Promise<SharedMemory>
  /** Shares a lesson. Throws with the hub's reason when it is refused. */
  save(memory: { content: string; tags: string[]; source_url?: string }): Promise<{
    short_id: string
    /** `queued`: stored, and findable a little later. */
    status: 'saved' | 'queued'
    similar: readonly { short_id: string; relation: string; similarity: number | null }[]
    warnings?: readonly string[] | undefined
  }>
  /** Records that a memory was useful. */
  cite(id: string): Promise<unknown>
}

export interface McpOptions {
  memory: MemoryManager
  /** A hub adds tools to search it, to save and to cite. */
  hub?: SharedMemories | undefined
  /**
   * Removes a memory for good; for a session's archive, also everything else kept of that session. Default:
   * `memory.delete`.
   */
  forget?: ((scope: MemoryScope, key: string) => Promise<void>) | undefined
  /** What a search of a scope could not look at, and why, such as files that cannot be read. Default: nothing. */
  notSearched?: ((scope: MemoryScope) => readonly string[] | Promise<readonly string[]>) | undefined
  version?: string | undefined
}

export interface McpHandlerOptions {
  /**
   * Chooses the memory that a request sees. Called for each request, after the caller has been authenticated.
   *
   * @param principal the principal that was passed to `fetch`
   */
  optionsFor(principal: unknown): McpOptions | Promise<McpOptions>
  /** Accepted host names of requests. Default: those of this machine. */
  allowedHosts?: readonly string[] | undefined
  /** Accepted host names of the pages that send requests; a request without an `Origin` does not come from a page. */
  allowedOrigins?: readonly string[] | undefined
  /**
   * Called with what went wrong while a request was answered, such as an error of `optionsFor`, and with why a request
   * was not taken: log it. The caller gets no details. Its errors are ignored.
   */
  onError?: ((error: Error) => void) | undefined
}
