import type { EchoEntry, EchoLayer } from '@recall/echoes'

/** A finding with a title of its own; an old one is pruned when the memory is full. */
export const findingOf = (id: string, layer: EchoLayer, isOld: boolean): EchoEntry => ({
  date: '2026-01-01',
  kind: 'Pattern',
  title: `Finding ${id}`,
  layer,
  source: 'rune:review PR #1',
  confidence: 0.9,
  evidence: `\`src/${id}.ts:1\``,
  verified: isOld ? '2024-01-01' : new Date().toISOString().slice(0, 10),
  supersedes: null,
  learning: `What was learned of ${id}. It has a second sentence.`,
})
