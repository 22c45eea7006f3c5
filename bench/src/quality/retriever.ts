import type { Collection } from './data-set.ts'

/** What finds documents: ours through its public interface, or a peer. */
export interface Retriever {
  name: string
  open(collection: Collection): Promise<OpenedRetriever>
}

export interface OpenedRetriever {
  /** Documents, best first, up to 200. */
  search(text: string): Promise<Ranking>
  /** The same in a memory that some documents were taken out of; afterwards they are back. */
  searchWithout?(ids: readonly string[], text: string): Promise<Ranking>
  close(): Promise<void>
}

export interface Ranking {
  docs: string[]
  /** Sessions, best first, where the retriever ranks them itself; else the order of their first document. */
  sessions?: string[]
  /** How likely the memory knows, 0..1, where the retriever says so. */
  confidence?: number
}

export const depth = 200
