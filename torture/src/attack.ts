/** One way to break Recall. */
export interface Attack {
  /** What is done and what must hold, in one line. */
  what: string
  /** How much a round does when nobody says: kills, inputs, writes. */
  size: number
  /** Why it cannot be done on this machine; `null` where it can. Default: it can. */
  closed?(): string | null
  /** Does it, as far as a seed can decide it, in an empty folder that is removed afterwards. */
  round(options: RoundOptions): Promise<Round>
}

export interface RoundOptions {
  seed: number
  size: number
  folder: string
}

export interface Round {
  /** What was tried and what was looked at afterwards, for example `{ kills: 20, 'acknowledged writes': 311 }`. */
  counts: Record<string, number>
  /** What was measured on the way, in a sentence. */
  measured?: string
  /** What should not have happened, each in a line; none in a sound system. */
  violations: string[]
}
