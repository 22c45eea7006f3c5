import type { Collection } from './data-set.ts'

/** Finds documents: ours through its public interface, or a peer. */
export interface Retriever {
  name: string
  open(collection: Collection): Promise<OpenedRetriever>
}

export interface OpenedRetriever {
  /** Documents, best first, up to 200. */
  search(text: string): Promise<Ranking>
  /** The same in a memory with some documents removed; afterwards they are restored. */
  searchWithout?(ids: readonly string[], text: string): Promise<Ranking>
  close(): Promise<void>
}

export interface Ranking {
  docs: string[]
  /** Sessions, best first, if the retriever ranks them itself; otherwise the order of their first document is used. */
  sessions?: string[]
  /** How likely the memory knows, 0..1, if the retriever says so. */
  confidence?: number
}

export const depth = 200
