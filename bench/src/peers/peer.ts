import type { CorpusDocument } from '../corpus.ts'

/** A store of memories that is measured next to the others, in a separate process. */
export interface Peer {
  name: string
  version: string
  /** How it is set up, and what its figures include, for the reader of the report. */
  settings: string
  /** With more memories than this it is left out; `limit` says why. */
  most?: number
  limit?: string
  /** Opens the content of a folder, or starts fresh in an empty one. */
  open(folder: string): Promise<OpenedPeer>
}

export interface OpenedPeer {
  /** Stores many at once in the fastest way it has; they are on disk when it returns. */
  putAll(documents: readonly CorpusDocument[]): Promise<void>
  /** Stores one more; it is on disk when it returns. */
  put(document: CorpusDocument): Promise<void>
  /** Keys of at most ten, best first if it ranks. */
  search(text: string): Promise<string[]>
  /** The process that holds the store, if not the caller's; 0: none that lasts. */
  pid?: number
  close(): Promise<void>
}

/** The text of a memory, the same for all peers. */
export const textOf = ({ title, text }: CorpusDocument): string => `# ${title}\n\n${text}`
