import { expect, it, vi } from 'vitest'
import { type TransformersOptions, transformersEmbedder } from './transformers-embedder.ts'

it('asks the pipeline in batches, with prefixes and pooling', async () => {
  const calls: unknown[] = []
  const embedder = transformersEmbedder(
    async (texts, options) => {
      calls.push([texts, options])
      return { tolist: () => texts.map(() => [1, 0]) }
    },
    { model: 'm', dimensions: 2, pooling: 'cls', prefixes: { query: 'q: ' }, maxBatch: 2 },
  )
  expect(await embedder.embed(['a', 'b', 'c'], 'query')).toEqual([
    Float32Array.of(1, 0),
    Float32Array.of(1, 0),
    Float32Array.of(1, 0),
  ])
  expect(calls).toEqual([
    [['q: a', 'q: b'], { pooling: 'cls', normalize: true }],
    [['q: c'], { pooling: 'cls', normalize: true }],
  ])
})

it('asks the pipeline no further when it is told to stop', async () => {
  const stop = new AbortController()
  let asked = 0
  const embedder = transformersEmbedder(
    async (texts) => {
      asked++
      stop.abort(new Error('enough'))
      return { tolist: () => texts.map(() => [1, 0]) }
    },
    { model: 'm', dimensions: 2, maxBatch: 1 },
  )
  await expect(embedder.embed(['a', 'b'], 'query', { signal: stop.signal })).rejects.toThrow('enough')
  expect(asked).toBe(1)
})

it('takes the mean of sixteen texts at once where it is told nothing else', async () => {
  const calls: unknown[] = []
  const embedder = transformersEmbedder(
    async (texts, { pooling }) => {
      calls.push([texts.length, pooling])
      return { tolist: () => texts.map(() => [1, 0]) }
    },
    { model: 'm', dimensions: 2 },
  )
  await embedder.embed(new Array(17).fill('a'), 'query')
  expect(calls).toEqual([
    [16, 'mean'],
    [1, 'mean'],
  ])
  await embedder.close?.()
})

it('lets go of its pipeline when it is closed', async () => {
  const dispose = vi.fn()
  const extract = Object.assign(async () => ({ tolist: () => [] }), { dispose })
  await transformersEmbedder(extract, { model: 'm', dimensions: 2 }).close?.()
  expect(dispose).toHaveBeenCalledOnce()
})

it.each([
  ['dimensions must be a whole number of at least 1, not undefined', { dimensions: undefined }],
  ['maxBatch must be a whole number of at least 1, not 0', { maxBatch: 0 }],
  ['Unrecognized key: "prefix"', { prefix: {} }],
])('says of its options: %s', (message, wrong) => {
  const extract = async () => ({ tolist: () => [] })
  const options = { model: 'm', dimensions: 2, ...wrong } as TransformersOptions
  expect(() => transformersEmbedder(extract, options)).toThrow(message)
})
