import { createHash } from 'node:crypto'
import { type Embedder, embedTexts, refuseUnknownOptions } from '@recall/core'
import { LRUCache } from 'lru-cache'
import { atLeastOne } from './at-least-one.ts'
import { unlessAborted } from './unless-aborted.ts'

/**
 * Caches vectors by a hash of text and mode, so that no cached text is embedded twice, even by concurrent calls. An
 * answer that is not one vector for each text is refused, as by `embedTexts`, and not cached.
 *
 * @param max vectors to keep; one of 384 dimensions takes 1.5 KB
 * @throws MemoryError INVALID_INPUT, from this call, when `max` is not a whole number of at least 1, and for an unknown
 * option
 */
export function cachedEmbedder(
  embedder: Embedder,
  { max = 10_000, ...others }: { max?: number | undefined } = {},
): Embedder {
  refuseUnknownOptions(others)
  const { model, dimensions, unrelated, scripts, maxTokens, maxBatch } = embedder
  const known = new LRUCache<string, Promise<Float32Array>>({ max: atLeastOne('max', max) })

  return {
    model,
    dimensions,
    ...(unrelated === undefined ? {} : { unrelated }),
    ...(scripts === undefined ? {} : { scripts }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxBatch === undefined ? {} : { maxBatch }),
    async embed(texts, mode, options) {
      const keys = texts.map((text) =>
        createHash('sha256').update(mode).update('\0').update(text).digest('base64'),
      )
      const missing = new Map<string, string>()
      keys.forEach((key, i) => {
        if (!known.has(key)) missing.set(key, texts[i] as string)
      })
      if (missing.size > 0) {
        const answer = embedTexts(embedder, [...missing.values()], mode, options)
        ;[...missing.keys()].forEach((key, i) => {
          const vector = answer.then((vectors) => vectors[i] as Float32Array)
          known.set(key, vector)
          // A failure is not cached: the next call tries again.
          vector.catch(() => known.delete(key))
        })
        await answer
      }
      // Copies, so that a caller's changes to its vectors do not affect the cached ones.
      const vectors: (Float32Array | undefined)[] = await unlessAborted(
        Promise.all(
          keys.map((key) =>
            known.get(key)?.then(
              (vector) => vector.slice(),
              () => undefined,
            ),
          ),
        ),
        options?.signal,
      )
      // Embed texts that are still missing: those of another call that failed or was aborted, and those evicted because
      // a call has more texts than the cache holds.
      const lacking = keys.flatMap((_, i) => (vectors[i] === undefined ? [i] : []))
      if (lacking.length > 0) {
        const some = lacking.map((i) => texts[i] as string)
        const found = await embedTexts(embedder, some, mode, options)
        lacking.forEach((i, j) => {
          vectors[i] = found[j]
        })
      }
      return vectors as Float32Array[]
    },
    ...(embedder.warmUp ? { warmUp: async () => embedder.warmUp?.() } : {}),
    close: async () => embedder.close?.(),
  }
}
