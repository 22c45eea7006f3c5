import { embedWhole, MemoryError, MemoryErrorCode, refusesText } from '@recall/core'
import type { Hub } from '../hub.ts'

/**
 * The vector of the whole of one text. A provider that returns an invalid vector is treated like one that does not
 * answer.
 *
 * @throws MemoryError INVALID_INPUT for a text that the model refuses; UNAVAILABLE, with a time to retry after, when
 * the provider returns no valid vector in time
 */
export async function embedText(
  { embedder, config }: Pick<Hub, 'embedder' | 'config'>,
  text: string,
  mode: 'document' | 'query',
): Promise<number[]> {
  const late = new AbortController()
  // `AbortSignal.timeout` cannot be cleared: its timers would fire long after the answers.
  const timer = setTimeout(() => late.abort(tooLate(config.embedTimeoutMs)), config.embedTimeoutMs)
  try {
    // Not every provider heeds the signal.
    const [vector] = await Promise.race([
      embedWhole(embedder, [text], mode, { signal: late.signal }),
      rejecting(late.signal),
    ])
    return [...(vector as Float32Array)]
  } catch (cause) {
    if (refusesText(cause)) throw refused(cause, mode)
    throw new MemoryError(
      `the embedding provider does not answer${nothingWritten(mode)}: try again later`,
      MemoryErrorCode.UNAVAILABLE,
      { cause, retryAfterMs: 5000 },
    )
  } finally {
    clearTimeout(timer)
  }
}

const refused = (cause: MemoryError, mode: 'document' | 'query'): MemoryError =>
  new MemoryError(
    `the embedding model of this hub refuses this text${nothingWritten(mode)}: it may be too long for the model, so say it in fewer words`,
    MemoryErrorCode.INVALID_INPUT,
    { cause },
  )

/** A search had nothing to write. */
const nothingWritten = (mode: 'document' | 'query'): string =>
  mode === 'document' ? ', and nothing was written' : ''

const tooLate = (ms: number): MemoryError =>
  new MemoryError(
    `no vector within ${ms} milliseconds (RECALL_HUB_EMBED_TIMEOUT_MS)`,
    MemoryErrorCode.TIMEOUT,
  )

const rejecting = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
