import { expect, it } from 'vitest'
import type { Embedder } from '../embedder.ts'
import { embedTexts } from './embed-texts.ts'

const giving = (answer: unknown): Embedder => ({
  model: 'liar',
  dimensions: 2,
  embed: async () => answer as Float32Array[],
})

it.each<[string, unknown]>([
  ['nothing', undefined],
  ['no vectors', []],
  ['too few', [[1, 0]]],
  ['too many', [[1, 0], [0, 1], [1, 0]]],
  ['holes', [[1, 0], undefined]],
  ['other lengths', [[1, 0], [1, 0, 0]]],
  ['what is no number', [[1, 0], [Number.NaN, 1]]],
  ['infinity', [[1, 0], [Number.POSITIVE_INFINITY, 1]]],
  ['no direction', [[1, 0], [0, 0]]],
  ['words', [[1, 0], ['north', 'south']]],
])('an answer of %s is refused', async (_, answer) => {
  await expect(embedTexts(giving(answer), ['a', 'b'], 'document')).rejects.toMatchObject({
    code: 'MEMORY_UNAVAILABLE',
    message: expect.stringContaining("'liar' gave"),
  })
}) // biome-ignore format: a table

it('vectors of any length become unit vectors, and unit vectors stay what they are', async () => {
  const unit = Float32Array.of(0.6, 0.8)
  expect(await embedTexts(giving([unit, [3, -4]]), ['a', 'b'], 'query')).toEqual([
    unit,
    Float32Array.of(0.6, -0.8),
  ])
})

it.each([0, -1, 1.5, Number.NaN])('an embedder that takes %d texts at once is refused', async (maxBatch) => {
  const embedder = { ...giving([[1, 0]]), maxBatch }
  await expect(embedTexts(embedder, ['a'], 'query')).rejects.toMatchObject({
    code: 'MEMORY_INVALID_INPUT',
    message: expect.stringContaining('maxBatch'),
  })
})
