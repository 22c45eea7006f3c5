/**
 * Turns text into vectors. A store never calls it: the front embeds and hands vectors down.
 */
export interface Embedder {
  /** Names the vector space, for example `bge-small-en-v1.5/q8`. Vectors of two models are never compared. */
  readonly model: string
  readonly dimensions: number
  /**
   * One unit-length vector per text, in the order given.
   *
   * @param mode `document` for what is stored, `query` for what is asked: some models treat them differently
   * @throws MemoryError UNAVAILABLE, TIMEOUT or RATE_LIMITED when a remote model cannot answer
   */
  embed(texts: readonly string[], mode: 'document' | 'query'): Promise<Float32Array[]>
  close?(): Promise<void>
}
