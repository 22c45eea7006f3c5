/**
 * Turns text into vectors. A store never calls it while it holds a lock or a transaction.
 */
export interface Embedder {
  /** Names the vector space, for example `bge-small-en-v1.5/q8`. Vectors of two models are never compared. */
  readonly model: string
  readonly dimensions: number
  /**
   * Mean and deviation of the cosine of two texts that have nothing in common, so that nearness means the same
   * for every model. Default: 0 and 0.2.
   */
  readonly unrelated?: { readonly mean: number; readonly deviation: number } | undefined
  /**
   * Unicode names of the scripts that the model was trained on, for example `Latin`. A query mostly in other scripts is
   * answered by its words alone. Default: all scripts.
   */
  readonly scripts?: readonly string[] | undefined
  /** Longest text that the model sees whole, in its own tokens; longer texts are cut at the end. */
  readonly maxTokens?: number | undefined
  /** Most texts that the model handles well in one call: callers with more split them. Default: 64. */
  readonly maxBatch?: number | undefined
  /**
   * One unit-length vector per text, in the order given.
   *
   * @param mode `document` for texts to store, `query` for texts to search by: some models treat them differently
   * @throws MemoryError UNAVAILABLE, TIMEOUT or RATE_LIMITED when a model cannot answer, UNAVAILABLE with
   * `details.refusesText` true when it answers but refuses one of these texts, and would every time; the reason of an
   * aborted `signal`
   */
  embed(
    texts: readonly string[],
    mode: 'document' | 'query',
    options?: { signal?: AbortSignal | undefined },
  ): Promise<Float32Array[]>
  /** Loads what the first call would load. */
  warmUp?(): Promise<void>
  close?(): Promise<void>
}
