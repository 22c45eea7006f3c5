import { createHash } from 'node:crypto'
import { type Embedder, embedTexts } from '@recall/core'
import { LRUCache } from 'lru-cache'
import { unlessAborted } from './unless-aborted.ts'

/**
 * Embeds no text twice while it is remembered: vectors are kept by the hash of the text and its mode. Texts
 * that are asked for at the same time are embedded once. An answer that is not one vector for each text is refused as
 * `embedTexts` does, and not remembered.
 *
 * @param max vectors to keep; one of 384 dimensions takes 1.5 KB
 */
export function cachedEmbedder(embedder: Embedder, { max = 10_000 }: { max?: number } = {}): Embedder {
  const { model, dimensions, unrelated, maxTokens, maxBatch } = embedder
  const known = new LRUCache<string, Promise<Float32Array>>({ max })

  return {
    model,
    dimensions,
    ...(unrelated === undefined ? {} : { unrelated }),
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
          // A failure is not remembered: the next call asks again.
          vector.catch(() => known.delete(key))
        })
        await answer
      }
      const vectors = await unlessAborted(
        Promise.all(keys.map((key) => known.get(key)?.catch(() => undefined))),
        options?.signal,
      )
      // What another call asked for and gave up, and what was dropped since one call asks for more than is kept.
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
    warmUp: async () => embedder.warmUp?.(),
    close: async () => embedder.close?.(),
  }
}
