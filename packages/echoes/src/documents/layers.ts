export const echoLayers = ['etched', 'inscribed', 'traced'] as const
export type EchoLayer = (typeof echoLayers)[number]

export interface LayerRule {
  /** Importance in the score. */
  weight: number
  /** `null`: never expires. */
  maxAgeDays: number | null
  trigger: 'a person' | 'memory above its line limit'
  /** An entry with a lower score is archived once it is older than `maxAgeDays`; `null`: never. */
  archiveBelow: number | null
  /** The part of the ranking by score in which inscribed entries are archived or traced ones shortened, as a share. */
  share: { part: 'bottom' | 'middle'; of: number } | null
  /** Where an entry may be moved, and by whom. */
  transitions: readonly { to: EchoLayer | 'archive'; by: 'a person' | 'anyone' | 'pruning' }[]
}

/** The three layers. Only a person may add or remove etched entries. */
// biome-ignore format: a table
export const layerRules: Record<EchoLayer, LayerRule> = {
  etched: {
    weight: 1.0, maxAgeDays: null, trigger: 'a person', archiveBelow: null, share: null,
    transitions: [
      { to: 'inscribed', by: 'a person' }, { to: 'traced', by: 'a person' }, { to: 'archive', by: 'a person' },
    ],
  },
  inscribed: {
    weight: 0.7, maxAgeDays: 90, trigger: 'memory above its line limit', archiveBelow: 0.3,
    share: { part: 'bottom', of: 0.2 },
    transitions: [
      { to: 'etched', by: 'a person' }, { to: 'traced', by: 'anyone' }, { to: 'archive', by: 'pruning' },
    ],
  },
  traced: {
    weight: 0.3, maxAgeDays: 30, trigger: 'memory above its line limit', archiveBelow: 0.2,
    share: { part: 'middle', of: 0.3 },
    transitions: [{ to: 'etched', by: 'a person' }, { to: 'inscribed', by: 'anyone' }, { to: 'archive', by: 'pruning' }],
  },
}

export const isEchoLayer = (text: string): text is EchoLayer =>
  (echoLayers as readonly string[]).includes(text)
