import type { Embedder } from '@recall/core'
import { cachedEmbedder } from '@recall/embeddings'

/**
 * Embeds each document once, for all retrievers. Each retriever embeds the question itself: that is part of the time of
 * a search.
 */
export function documentCache(embedder: Embedder): Embedder {
  const cached = cachedEmbedder(embedder, { max: 200_000 })
  return {
    ...cached,
    embed: (texts, mode, options) => (mode === 'query' ? embedder : cached).embed(texts, mode, options),
  }
}
