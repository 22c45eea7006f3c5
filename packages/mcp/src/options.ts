import type { MemoryManager, MemoryScope } from '@recall/core'

/** What agents share on a hub; only what the tools need of `connectHub` of `@recall/client`. */
export interface SharedMemories {
  /** @param question of at most 500 characters */
  search(
    question: string,
    options: { limit: number },
  ): Promise<
    readonly {
      short_id: string
      content: string
      author: { name: string }
      /** 0..1 */
      similarity: number
    }[]
  >
  /** Shares what was learned; the hub says what is wrong with it. */
  save(memory: { content: string; tags: string[]; source_url?: string }): Promise<{
    short_id: string
    /** `queued`: kept, and found a little later. */
    status: 'saved' | 'queued'
    similar: readonly { short_id: string; relation: string; similarity: number | null }[]
    warnings?: readonly string[]
  }>
  /** Says that a memory was of use. */
  cite(id: string): Promise<unknown>
}

export interface McpOptions {
  memory: MemoryManager
  /**
   * Marks a text as data that came out of memory, so that it is not taken for an instruction, and is not
   * remembered a second time.
   */
  fence(text: string, source: string): string
  /** With a hub there are tools to search it, to save and to cite. */
  hub?: SharedMemories
  /** Removes a memory for good. Default: deletes it. */
  forget?(scope: MemoryScope, key: string): Promise<void>
  version?: string
}
