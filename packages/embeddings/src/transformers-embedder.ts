import type { Embedder } from '@recall/core'
import { parseMaxBatch } from './max-batch.ts'

/** What is used of a transformers.js `feature-extraction` pipeline. */
export interface FeatureExtraction {
  (texts: string[], options: { pooling: 'cls' | 'mean'; normalize: true }): Promise<{ tolist(): number[][] }>
  dispose?(): Promise<unknown>
}

export interface TransformersOptions {
  /** Names the vector space; two models must never share it. */
  model: string
  dimensions: number
  /** As the model's card says. Default `mean`. */
  pooling?: 'cls' | 'mean'
  prefixes?: { query?: string; document?: string }
  /** Texts at once. Default 16. */
  maxBatch?: number
}

/** A model that somebody brings as a transformers.js pipeline. */
export function transformersEmbedder(extract: FeatureExtraction, options: TransformersOptions): Embedder {
  const { model, dimensions, pooling = 'mean', prefixes = {} } = options
  const maxBatch = parseMaxBatch(options.maxBatch ?? 16)
  return {
    model,
    dimensions,
    maxBatch,
    async embed(texts, mode, { signal } = {}) {
      const vectors: Float32Array[] = []
      for (let i = 0; i < texts.length; i += maxBatch) {
        signal?.throwIfAborted()
        const batch = texts.slice(i, i + maxBatch).map((text) => (prefixes[mode] ?? '') + text)
        const answer = await extract(batch, { pooling, normalize: true })
        vectors.push(...answer.tolist().map((values) => Float32Array.from(values)))
      }
      return vectors
    },
    async close() {
      await extract.dispose?.()
    },
  }
}
