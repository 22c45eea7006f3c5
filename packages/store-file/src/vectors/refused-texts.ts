import { type Embedder, embedTexts, isMemoryError, type MemoryError, refusesText } from '@recall/core'

/** Texts that the model refused, by hash, with its reason: they are not sent again while the process lives. */
export function createRefusedTexts(most = 10_000) {
  const reasons = new Map<string, string>()

  return {
    has: (hash: string): boolean => reasons.has(hash),

    reasonOf: (hash: string): string | undefined => reasons.get(hash),

    /** The reason for the first of them, if any text was refused. */
    reason: (): string | undefined => reasons.values().next().value,

    add(hash: string, reason: string): void {
      const [oldest] = reasons.keys()
      if (reasons.size >= most && oldest !== undefined) reasons.delete(oldest)
      reasons.set(hash, reason)
    },
  }
}

/**
 * The vector of each text, or the error for a text that the model refuses. One such text fails the whole call, without
 * saying which it is, so after a failure they are embedded one by one.
 *
 * @throws whatever else the embedder throws
 */
export async function embedUnlessRefused(
  embedder: Embedder,
  texts: readonly string[],
  options: { signal?: AbortSignal },
): Promise<(Float32Array | MemoryError)[]> {
  try {
    return await embedTexts(embedder, texts, 'document', options)
  } catch (error) {
    if (!refusesText(error)) throw error
    if (texts.length === 1) return [error]
    const each: (Float32Array | MemoryError)[] = []
    for (const text of texts) each.push(...(await embedUnlessRefused(embedder, [text], options)))
    return each
  }
}

export const isVector = (answer: Float32Array | MemoryError): answer is Float32Array => !isMemoryError(answer)
