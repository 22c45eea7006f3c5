import { MemoryErrorCode } from '@recall/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fakeEmbedder } from './fake-embedder.ts'

const dot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, x, i) => sum + x * (b[i] as number), 0)

it('gives one unit vector per text, always the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'grapheme' })), async (texts) => {
      const vectors = await fakeEmbedder().embed(texts, 'document')
      expect(vectors).toHaveLength(texts.length)
      for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5)
      expect(await fakeEmbedder().embed(texts, 'query')).toEqual(vectors)
    }),
  )
})

it('puts texts that share words near each other', async () => {
  const [a, b, c] = (await fakeEmbedder().embed(
    ['the blue door opens', 'blue doors were open', 'quarterly revenue forecast'],
    'document',
  )) as [Float32Array, Float32Array, Float32Array]
  expect(dot(a, b)).toBeGreaterThan(dot(a, c) + 0.3)
})

it.each([
  ['dimensions must be a whole number of at least 1, not 0', { dimensions: 0 }],
  ['dimensions must be a whole number of at least 1, not 1.5', { dimensions: 1.5 }],
  ['Unrecognized key: "dimension"', { dimension: 8 }],
])('says of its options: %s', (message, options) => {
  expect(() => fakeEmbedder(options as object)).toThrow(
    expect.objectContaining({
      code: MemoryErrorCode.INVALID_INPUT,
      message: expect.stringContaining(message),
    }),
  )
})
