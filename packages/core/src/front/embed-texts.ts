import type { Embedder } from '../embedder.ts'
import { MemoryError, MemoryErrorCode } from '../errors.ts'

/**
 * One vector of unit length for each text. The embedder gets as many texts at once as it handles well, so that a
 * thousand texts do not become a thousand requests, and a query does not wait until all of them are embedded. Its
 * answer is checked before it is kept or compared: a NaN would spoil every comparison with its vector, and a missing
 * vector would assign the others to the wrong texts.
 *
 * @throws MemoryError INVALID_INPUT when the embedder's `maxBatch` is not a whole number above 0; UNAVAILABLE when the
 * answer is not one vector per text, each with the model's dimensions and a direction; whatever the embedder throws
 */
export async function embedTexts(
  embedder: Embedder,
  texts: readonly string[],
  mode: 'document' | 'query',
  options?: { signal?: AbortSignal | undefined },
): Promise<Float32Array[]> {
  const most = embedder.maxBatch ?? defaultBatch
  if (!Number.isInteger(most) || most < 1)
    throw new MemoryError(
      `'${embedder.model}' takes ${most} texts at once: its maxBatch must be a whole number above 0`,
      MemoryErrorCode.INVALID_INPUT,
    )
  const vectors: Float32Array[] = []
  for (let i = 0; i < texts.length; i += most) {
    vectors.push(...(await embedBatch(embedder, texts.slice(i, i + most), mode, options)))
  }
  return vectors
}

/** Texts at once for an embedder that does not say how many it handles well. */
const defaultBatch = 64

async function embedBatch(
  embedder: Embedder,
  texts: readonly string[],
  mode: 'document' | 'query',
  options: { signal?: AbortSignal | undefined } | undefined,
): Promise<Float32Array[]> {
  const { model, dimensions } = embedder
  const vectors: unknown = await (options
    ? embedder.embed(texts, mode, options)
    : embedder.embed(texts, mode))
  if (!Array.isArray(vectors) || vectors.length !== texts.length) {
    const given = Array.isArray(vectors) ? vectors.length : 'no'
    throw unavailable(`'${model}' gave ${given} vectors for ${texts.length} texts`)
  }
  return vectors.map((vector: ArrayLike<number> | null | undefined) => {
    if (vector?.length !== dimensions) {
      throw unavailable(`'${model}' gave ${vector?.length ?? 'no'} dimensions, not ${dimensions}`)
    }
    return unitVector(vector, model)
  })
}

/** Scales a vector to length 1, because only directions are compared. */
export function unitVector(vector: ArrayLike<number>, model: string): Float32Array {
  let squares = 0
  for (let i = 0; i < vector.length; i++) squares += (vector[i] as number) ** 2
  // Negated as a whole, so that NaN is refused too.
  if (!(squares > 0 && squares < Number.POSITIVE_INFINITY)) {
    throw unavailable(`'${model}' gave a vector without a direction`)
  }
  const length = Math.abs(squares - 1) < tolerance ? 1 : Math.sqrt(squares)
  return length === 1 && vector instanceof Float32Array
    ? vector
    : Float32Array.from(vector, (value) => value / length)
}

/** How far single precision may move a squared length away from 1. */
const tolerance = 1e-4

const unavailable = (message: string): MemoryError =>
  new MemoryError(`${message}: none of its answer is used`, MemoryErrorCode.UNAVAILABLE)
