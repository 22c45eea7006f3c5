import { MemoryError, MemoryErrorCode } from '@recall/core'

/** Most dimensions of pgvector's `vector`. */
const mostDimensions = 16_000

/**
 * The vector at length 1: only directions are compared, and numbers of any size then fit into those of Postgres.
 *
 * @throws MemoryError INVALID_INPUT
 */
export function storableVector(vector: readonly number[]): number[] {
  if (vector.length > mostDimensions) {
    throw new MemoryError(
      `a vector has ${vector.length} dimensions: Postgres keeps up to ${mostDimensions}`,
      MemoryErrorCode.INVALID_INPUT,
    )
  }
  // Divided by the largest first: squares of large numbers would be infinite.
  const largest = Math.max(...vector.map(Math.abs))
  if (largest === 0) return [...vector]
  const scaled = vector.map((x) => x / largest)
  const length = Math.hypot(...scaled)
  return scaled.map((x) => Math.fround(x / length))
}
