/** The result of one retriever for one question. */
export interface Answer {
  question: string
  collection: string
  category: string
  found: string[]
  gold: string[]
  /** Shares, from 0 to 1. */
  measures: Record<string, number>
  /** How likely the memory was said to know, with the evidence in it and without. */
  confidence?: { answerable: number; withoutEvidence: number }
}

export interface RetrieverResult {
  name: string
  /** Averages over all questions, in percent. */
  measures: Record<string, number>
  /** Turn recall@10 by collection and by category, in percent. */
  byCollection: Record<string, number>
  byCategory: Record<string, number>
  /** Median of a search, and of opening the collection, in milliseconds. */
  searchMs: number
  abstention?: Abstention
  answers: Answer[]
}

/** The effect of refusing below a confidence; percent. */
export interface Abstention {
  /**
   * The highest threshold that costs at most three points of recall@5, and the share of the unanswerable that it
   * refuses.
   */
  threshold: number
  refused: number
  /** The same for one threshold on every data set: what is lost and what is refused. */
  lostAtCommon: number
  refusedAtCommon: number
}

/** Below it, giving no answer is better, as the interface documents. */
export const commonThreshold = 0.2

/** The result of a collection with weights that were chosen on all the others. */
export interface LeftOut {
  collection: string
  chosen: Record<string, number>
  /** Percent recall@10 with the weights chosen without it, and with the published ones. */
  leftOut: number
  published: number
}
