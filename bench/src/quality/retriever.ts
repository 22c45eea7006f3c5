import type { Collection } from './data-set.ts'

/** What finds documents: ours through its public interface, or a peer. */
export interface Retriever {
  name: string
  open(collection: Collection): Promise<OpenedRetriever>
}

export interface OpenedRetriever {
  /** Documents, best first, up to 200. */
  search(text: string): Promise<Ranking>
  close(): Promise<void>
}

export interface Ranking {
  docs: string[]
  /** Sessions, best first, where the retriever ranks them itself; else the order of their first document. */
  sessions?: string[]
  /** Score of each document, 0..1, where it means something. */
  scores?: number[]
}

export const depth = 200
