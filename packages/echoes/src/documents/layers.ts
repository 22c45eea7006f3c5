export const echoLayers = ['etched', 'inscribed', 'traced'] as const
export type EchoLayer = (typeof echoLayers)[number]

/** What a layer weighs, and what pruning does to it in a memory above its line limit. */
export interface LayerRule {
  /** Importance in the score. */
  weight: number
  /** Days until recency has fallen to 0. */
  maxAgeDays: number
  /** An entry with a lower score is archived once it is older than `maxAgeDays`. */
  archiveBelow: number
  /**
   * A part of the entries as ranked by score: of the inscribed at most the lowest ones, of that size, are archived; of
   * the traced, those in the middle are shortened.
   */
  share: number
}

/** The three layers. Etched entries never expire and are never pruned; only a person adds or removes them. */
export const layerRules: Readonly<Record<EchoLayer, LayerRule>> = {
  etched: { weight: 1.0, maxAgeDays: Number.POSITIVE_INFINITY, archiveBelow: 0, share: 0 },
  inscribed: { weight: 0.7, maxAgeDays: 90, archiveBelow: 0.3, share: 0.2 },
  traced: { weight: 0.3, maxAgeDays: 30, archiveBelow: 0.2, share: 0.3 },
}

export const isEchoLayer = (text: string): text is EchoLayer =>
  (echoLayers as readonly string[]).includes(text)
