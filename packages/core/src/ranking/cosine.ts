/** Cosine similarity of two vectors of the same length, -1..1; 0 when either is all zeros. */
export function cosineSimilarity(a: readonly number[], b: readonly number[]): number {
  let dot = 0
  let aa = 0
  let bb = 0
  for (let i = 0; i < a.length; i++) {
    const x = a[i] as number
    const y = b[i] as number
    dot += x * y
    aa += x * x
    bb += y * y
  }
  if (isExact(aa) && isExact(bb)) return dot / (Math.sqrt(aa) * Math.sqrt(bb))
  const [left, right] = [scaled(a), scaled(b)]
  return left && right ? cosineSimilarity(left, right) : 0
}

/** The squares of very small or very large numbers lose precision or become infinite. */
const isExact = (squares: number): boolean => squares > 1e-280 && squares < 1e280

/** The vector in the same direction whose largest component is 1; `null` when all are zeros. */
function scaled(vector: readonly number[]): number[] | null {
  const largest = Math.max(...vector.map(Math.abs))
  return largest === 0 ? null : vector.map((each) => each / largest)
}
