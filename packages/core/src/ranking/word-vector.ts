import { fingerprint } from '../text/fingerprint.ts'
import { countTerms } from './bm25.ts'
import { indexedTerms } from './words.ts'

/**
 * A vector of unit length that tells texts apart by their words, for those that a model cannot read. Each term counts
 * in one direction and sign, which its hash chooses (feature hashing, Weinberger et al. 2009). All such vectors share
 * half of their squared length: texts without a common word have the cosine 0.5, like unrelated texts with most models,
 * and no vector of the model is near them.
 */
export function wordVector(text: string, dimensions: number): Float32Array {
  const { counts } = countTerms(indexedTerms(text))
  const vector = new Float32Array(dimensions)
  for (const [term, count] of counts) {
    const bits = Number.parseInt(fingerprint(term).slice(-8), 16)
    const place = 1 + ((bits >>> 1) % (dimensions - 1))
    vector[place] = (vector[place] as number) + (bits & 1 ? 1 : -1) * weightOf(term, count)
  }
  const length = Math.hypot(...vector)
  const scale = length === 0 ? 0 : Math.SQRT1_2 / length
  const scaled = vector.map((value) => value * scale)
  scaled[0] = Math.sqrt(1 - (length === 0 ? 0 : 0.5))
  return scaled
}

/** Long words tell more; from eight letters on, one is as good as another. */
const weightOf = (term: string, count: number): number =>
  (1 + Math.log(count)) * Math.sqrt(Math.min(8, term.length))
