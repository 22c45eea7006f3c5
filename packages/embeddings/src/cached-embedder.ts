import { createHash } from 'node:crypto'
import type { Embedder } from '@recall/core'
import { LRUCache } from 'lru-cache'

/**
 * Embeds no text twice while it is remembered: vectors are kept by the hash of the text and its mode. Texts
 * that are asked for at the same time are embedded once.
 *
 * @param max vectors to keep; one of 384 dimensions takes 1.5 KB
 */
export function cachedEmbedder(embedder: Embedder, { max = 10_000 }: { max?: number } = {}): Embedder {
  const known = new LRUCache<string, Promise<Float32Array>>({ max })

  return {
    ...embedder,
    async embed(texts, mode, options) {
      const keys = texts.map((text) =>
        createHash('sha256').update(mode).update('\0').update(text).digest('base64'),
      )
      const missing = new Map<string, string>()
      keys.forEach((key, i) => {
        if (!known.has(key)) missing.set(key, texts[i] as string)
      })
      if (missing.size > 0) {
        const answer = embedder.embed([...missing.values()], mode, options)
        ;[...missing.keys()].forEach((key, i) => {
          const vector = answer.then((vectors) => vectors[i] as Float32Array)
          known.set(key, vector)
          // A failure is not remembered: the next call asks again.
          vector.catch(() => known.delete(key))
        })
        await answer
      }
      return Promise.all(keys.map((key, i) => known.get(key) ?? once(embedder, texts[i] as string, mode)))
    },
  }
}

/** For what was dropped again because a single call asked for more texts than are kept. */
async function once(embedder: Embedder, text: string, mode: 'document' | 'query'): Promise<Float32Array> {
  const [vector] = await embedder.embed([text], mode)
  return vector as Float32Array
}
