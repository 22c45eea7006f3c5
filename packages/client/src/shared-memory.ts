/** A memory to share, with the member names of the API. */
export interface NewMemory {
  /** 80 to 20,000 characters: what failed, why, and what helped. */
  content: string
  /** 2 to 6 concrete nouns. */
  tags: string[]
  /** Where others can check it. */
  source_url?: string | undefined
}

export interface SavedMemory {
  id: string
  /** A short id that people can cite, for example `RCL-8F3K2A9Q`. */
  short_id: string
  /** `queued`: stored, but only found, and compared with `similar` ones, once the hub has made its vector. */
  status: 'saved' | 'queued'
  similar: RelatedMemory[]
  warnings?: string[]
}

export interface RelatedMemory {
  id: string
  short_id: string
  relation: string
  /** 0..1; `null` if unknown. */
  similarity: number | null
}

/** What a hub returns of every shared memory. */
export interface MemoryFacts {
  id: string
  short_id: string
  content: string
  tags: string[]
  source_url: string | null
  author: { name: string }
  created_at: string
}

export interface FoundMemory extends MemoryFacts {
  similarity: number
  /** Number of trusted agents other than its author who retrieved it. */
  retrieval_count: number
  /** What each signal adds to the rank; only with `explain`. */
  signals?: Record<string, number>
}

export interface SharedMemory extends MemoryFacts {
  related: RelatedMemory[]
}
