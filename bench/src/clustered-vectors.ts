import type { Embedder } from '@recall/core'
import { createRandom } from './corpus.ts'

export const dimensions = 384
const clusters = 400
/** Texts differ from each other in only this many directions, in a model whose vectors have many more. */
const latent = 24
/**
 * How far the points of a cluster lie from its middle, and from those few directions, relative to a middle of length 1.
 */
const spread = { within: 0.5, beside: 0.3 }

/**
 * A vector of unit length near the middle of its cluster; it depends on nothing but `name`. By the distances of the two
 * nearest (TwoNN) 2,600 of them have an intrinsic dimension of 15; those that bge-small-en-v1.5 makes of dialogues and
 * of code have 10 to 16. Noise in all directions alike has hundreds: there an index finds nothing.
 */
export function clusteredVector(name: string): Float32Array {
  const random = createRandom(hash(name))
  const cluster = Math.floor(random() * clusters)
  const middle = gaussian(latent, createRandom(cluster + 1))
  const near = gaussian(latent, random).map((value, i) => (middle[i] as number) + spread.within * value)
  const vector = gaussian(dimensions, random).map((value) => spread.beside * value)
  for (const [j, length] of near.entries()) {
    const direction = directions[j] as Float32Array
    for (let i = 0; i < dimensions; i++) vector[i] = (vector[i] as number) + length * (direction[i] as number)
  }
  return unit(vector)
}

/** Turns texts into clustered vectors: this embedding costs next to nothing, so that the rest is measured. */
export const clusteredEmbedder: Embedder = {
  model: 'clustered/384',
  dimensions,
  embed: async (texts) => texts.map(clusteredVector),
}

/** A vector whose length is about 1. */
function gaussian(length: number, random: () => number): Float32Array {
  const values = new Float32Array(length)
  for (let i = 0; i < length; i += 2) {
    const radius = Math.sqrt((-2 * Math.log(1 - random())) / length)
    const angle = 2 * Math.PI * random()
    values[i] = radius * Math.cos(angle)
    values[i + 1] = radius * Math.sin(angle)
  }
  return values
}

const directions = Array.from({ length: latent }, (_, j) => gaussian(dimensions, createRandom(1_000_003 + j)))

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
