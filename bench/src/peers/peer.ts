import type { CorpusDocument } from '../corpus.ts'

/** A store of memories that is measured beside the others, in a process of its own. */
export interface Peer {
  name: string
  version: string
  /** How it is set up, and what its figures include, for the reader of the report. */
  settings: string
  /** Beyond so many memories it is left out; `limit` says why. */
  most?: number
  limit?: string
  /** Opens what lies in a folder, or starts anew in an empty one. */
  open(folder: string): Promise<OpenedPeer>
}

export interface OpenedPeer {
  /** Keeps many at once in the fastest way it has; on disk when it returns. */
  putAll(documents: readonly CorpusDocument[]): Promise<void>
  /** Keeps one more; on disk when it returns. */
  put(document: CorpusDocument): Promise<void>
  /** Keys of at most ten, best first where it ranks. */
  search(text: string): Promise<string[]>
  /** The process that holds the store, where it is not the caller's; 0: none that lasts. */
  pid?: number
  close(): Promise<void>
}

/** What a memory says, the same for all. */
export const textOf = ({ title, text }: CorpusDocument): string => `# ${title}\n\n${text}`
