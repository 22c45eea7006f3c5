import type { Embedder } from '@recall/core'
import { cachedEmbedder } from '@recall/embeddings'

/**
 * Embeds each document once, for all retrievers. A question is embedded by each of them: it belongs to the time that
 * a search takes.
 */
export function documentCache(embedder: Embedder): Embedder {
  const cached = cachedEmbedder(embedder, { max: 200_000 })
  return {
    ...cached,
    embed: (texts, mode, options) => (mode === 'query' ? embedder : cached).embed(texts, mode, options),
  }
}
