import type { Embedder } from './embedder.ts'
import { MemoryError, MemoryErrorCode } from './errors.ts'

/**
 * One vector of unit length for each text. What a model gives is checked here, before it is kept or compared: one
 * number that is none would spoil every comparison with it, and a missing vector would be another text's.
 *
 * @throws MemoryError UNAVAILABLE when an answer is not one vector of the right length and with a direction for each
 * text; what the embedder throws
 */
export async function embedTexts(
  embedder: Embedder,
  texts: readonly string[],
  mode: 'document' | 'query',
  options?: { signal?: AbortSignal },
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

/** Only directions are compared. */
function unitVector(vector: ArrayLike<number>, model: string): Float32Array {
  let squares = 0
  for (let i = 0; i < vector.length; i++) squares += (vector[i] as number) ** 2
  // Also true of what is no number at all.
  if (!(squares > 0 && squares < Number.POSITIVE_INFINITY)) {
    throw unavailable(`'${model}' gave a vector without a direction`)
  }
  const length = Math.abs(squares - 1) < tolerance ? 1 : Math.sqrt(squares)
  return length === 1 && vector instanceof Float32Array
    ? vector
    : Float32Array.from(vector, (value) => value / length)
}

/** What single precision leaves of a length. */
const tolerance = 1e-4

const unavailable = (message: string): MemoryError =>
  new MemoryError(`${message}: nothing of it is kept`, MemoryErrorCode.UNAVAILABLE)
