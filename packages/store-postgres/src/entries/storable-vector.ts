import { MemoryError, MemoryErrorCode } from '@recall/core'

/** Most dimensions of pgvector's `vector`. */
const mostDimensions = 16_000

/**
 * Scales a vector to length 1: only directions are compared, and numbers of any size then fit into Postgres' single
 * precision.
 *
 * @throws MemoryError INVALID_INPUT when the vector has too many dimensions
 */
export function storableVector(vector: readonly number[]): number[] {
  if (vector.length > mostDimensions) {
    throw new MemoryError(
      `a vector has ${vector.length} dimensions: Postgres keeps up to ${mostDimensions}`,
      MemoryErrorCode.INVALID_INPUT,
    )
  }
  // Divide by the largest component first: squares of large numbers would be infinite.
  const largest = Math.max(...vector.map(Math.abs))
  if (largest === 0) return [...vector]
  const scaled = vector.map((x) => x / largest)
  const length = Math.hypot(...scaled)
  return scaled.map((x) => Math.fround(x / length))
}
