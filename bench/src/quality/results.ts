/** What one retriever made of one question. */
export interface Answer {
  question: string
  collection: string
  category: string
  found: string[]
  gold: string[]
  /** Percentages, in 0..1. */
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
  /** Median of a search, and of what it takes to open the collection, in milliseconds. */
  searchMs: number
  abstention?: Abstention
  answers: Answer[]
}

/** What refusing below a confidence does; percent. */
export interface Abstention {
  /** The highest that costs at most three points of recall@5, and what it refuses of the unanswerable. */
  threshold: number
  refused: number
  /** The same for one threshold on every data set: what is lost and what is refused. */
  lostAtCommon: number
  refusedAtCommon: number
}

/** Below it saying nothing is better, as the interface says. */
export const commonThreshold = 0.2

/** What a collection would have got from weights that were chosen on all the others. */
export interface LeftOut {
  collection: string
  chosen: Record<string, number>
  /** Percent recall@10 with the weights chosen without it, and with the ones that are published. */
  leftOut: number
  published: number
}
