import type { Peer } from './peer.ts'

/** Each peer is loaded when it is measured, so that a cold start does not pay for the others. */
export const peers = {
  recall: async () => (await import('./recall.ts')).recall,
  ripgrep: async () => (await import('./commands.ts')).ripgrep,
  minisearch: async () => (await import('./minisearch.ts')).minisearch,
  orama: async () => (await import('./orama.ts')).orama,
  vectra: async () => (await import('./vectra.ts')).vectra,
  'recall-mcp': async () => (await import('./over-mcp.ts')).recallOverMcp,
  'server-memory': async () => (await import('./over-mcp.ts')).serverMemory,
  qmd: async () => (await import('./commands.ts')).qmd,
  mem0: async () => (await import('./mem0.ts')).mem0,
} satisfies Record<string, () => Promise<Peer>>

export type PeerName = keyof typeof peers
