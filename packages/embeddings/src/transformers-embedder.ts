import { type Embedder, refuseUnknownOptions } from '@recall/core'
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

/**
 * An embedder over a transformers.js pipeline that the caller has loaded.
 *
 * @throws MemoryError INVALID_INPUT, from this call, when a number is not a whole one of at least 1, and for an unknown
 * option
 */
export function transformersEmbedder(extract: FeatureExtraction, options: TransformersOptions): Embedder {
  const { model, dimensions, pooling = 'mean', prefixes = {}, maxBatch = 16, ...others } = options
  refuseUnknownOptions(others)
  for (const [name, value] of Object.entries({ dimensions, maxBatch })) atLeastOne(name, value)
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
