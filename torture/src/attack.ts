/** One way to break Recall. */
export interface Attack {
  /** What is done and what must hold, in one line. */
  what: string
  /** How much a round does by default: kills, inputs, writes. */
  size: number
  /** Why it cannot be done on this machine; `null` if it can. Default: it can. */
  closed?(): string | null
  /** Carries it out, as far as a seed can determine it, in an empty folder that is removed afterwards. */
  round(options: RoundOptions): Promise<Round>
}

export interface RoundOptions {
  seed: number
  size: number
  folder: string
}

export interface Round {
  /** What was tried and what was checked afterwards, for example `{ kills: 20, 'acknowledged writes': 311 }`. */
  counts: Record<string, number>
  /** What was measured in the process, in a sentence. */
  measured?: string
  /** What should not have happened, one per line; empty in a sound system. */
  violations: string[]
}
