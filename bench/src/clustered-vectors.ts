import type { Embedder } from '@recall/core'
import { createRandom } from './corpus.ts'

export const dimensions = 384
const clusters = 1000
/** How far the points of a cluster lie from its middle, beside a middle of length 1. */
const spread = 0.9

/** A vector of unit length near the middle of its cluster; `name` is all it depends on. */
export function clusteredVector(name: string): Float32Array {
  const random = createRandom(hash(name))
  const middle = gaussian(createRandom(Math.floor(random() * clusters) + 1))
  const noise = gaussian(random)
  return unit(middle.map((value, i) => value + spread * (noise[i] as number)))
}

/** Texts to clustered vectors: embedding that costs next to nothing, so that the rest is what is measured. */
export const clusteredEmbedder: Embedder = {
  model: 'clustered/384',
  dimensions,
  embed: async (texts) => texts.map(clusteredVector),
}

function gaussian(random: () => number): Float32Array {
  const values = new Float32Array(dimensions)
  for (let i = 0; i < dimensions; i += 2) {
    const radius = Math.sqrt(-2 * Math.log(1 - random()))
    const angle = 2 * Math.PI * random()
    values[i] = radius * Math.cos(angle)
    values[i + 1] = radius * Math.sin(angle)
  }
  return unit(values)
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

/** 32-bit FNV-1a. */
function hash(text: string): number {
  let state = 0x811c9dc5
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193)
  return state >>> 0
}
