import type { Embedder } from '@recall/core'
import { atLeastOne } from './at-least-one.ts'

/** The part of a transformers.js `feature-extraction` pipeline that is used. */
export interface FeatureExtraction {
  (texts: string[], options: { pooling: 'cls' | 'mean'; normalize: true }): Promise<{ tolist(): number[][] }>
  dispose?(): Promise<unknown>
}

export interface TransformersOptions {
  /** Names the vector space: different models need different names. */
  model: string
  dimensions: number
  /** According to the model's card. Default `mean`. */
  pooling?: 'cls' | 'mean' | undefined
  prefixes?: { query?: string | undefined; document?: string | undefined } | undefined
  /** Texts in one call of the pipeline. Default 16. */
  maxBatch?: number | undefined
}

/** An embedder over a transformers.js pipeline that the caller has loaded. */
export function transformersEmbedder(extract: FeatureExtraction, options: TransformersOptions): Embedder {
  const { model, dimensions, pooling = 'mean', prefixes = {} } = options
  const maxBatch = atLeastOne('maxBatch', options.maxBatch ?? 16)
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
