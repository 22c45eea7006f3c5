import { type Embedder, refuseUnknownOptions } from '@recall/core'
import { wordsOf } from '@recall/core/ranking'
import { atLeastOne } from './at-least-one.ts'

/**
 * A deterministic stand-in for tests and demonstrations: texts that share words are near each other, whatever they
 * mean. Each stemmed word adds a pseudo-random direction drawn from its own hash.
 *
 * @throws MemoryError INVALID_INPUT when `dimensions` is not a whole number of at least 1, and for an unknown option
 */
export function fakeEmbedder(options: { dimensions?: number | undefined } = {}): Embedder {
  const { dimensions = 64, ...others } = options
  refuseUnknownOptions(others)
  atLeastOne('dimensions', dimensions)
  return {
    model: `fake-words/${dimensions}`,
    dimensions,
    async embed(texts, _mode, options) {
      options?.signal?.throwIfAborted()
      return texts.map((text) => wordVector(text, dimensions))
    },
  }
}

function wordVector(text: string, dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions)
  for (const { term } of wordsOf(text)) {
    let state = hash(term)
    for (let i = 0; i < dimensions; i++) {
      state = xorshift(state)
      sum[i] = (sum[i] as number) + state / 2 ** 31
    }
  }
  const length = Math.hypot(...sum)
  // A text without words still needs a direction, because vectors have unit length.
  if (length === 0) sum[0] = 1
  return length === 0 ? sum : sum.map((value) => value / length)
}

/** 32-bit FNV-1a; never 0, where xorshift would stay. */
function hash(text: string): number {
  let state = 0x811c9dc5
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193)
  return state === 0 ? 1 : state
}

/** Marsaglia 2003, the 13, 17, 5 triple. */
function xorshift(state: number): number {
  let next = state
  next ^= next << 13
  next ^= next >>> 17
  next ^= next << 5
  return next
}
