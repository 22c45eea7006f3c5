import { getEventListeners } from 'node:events'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Embedder, MemoryErrorCode } from '@recall/core'
import { bgeSmallEn, type ModelFiles } from '@recall/model-bge-small-en'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { localEmbedder } from './local-embedder.ts'
import { openSession } from './runtime.ts'
import { workerEmbedder } from './worker-embedder.ts'

vi.mock('./runtime.ts', { spy: true })

const dot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, x, i) => sum + x * (b[i] as number), 0)

const embedders: [string, Embedder][] = [
  ['native', localEmbedder({ runtime: 'native', threads: 1 })],
  ['wasm', localEmbedder({ runtime: 'wasm' })],
  ['in a thread', workerEmbedder({ runtime: 'native', threads: 1 })],
]
afterAll(async () => {
  for (const [, embedder] of embedders) await embedder.close?.()
})

it('tells what runs it, once that is loaded', async () => {
  const embedder = localEmbedder({ runtime: 'wasm' })
  expect(embedder.runtime).toBeUndefined()
  await embedder.warmUp?.()
  expect(embedder.runtime).toBe('wasm')
  await embedder.close?.()
})

describe.each(embedders)('%s', (_name, embedder) => {
  it('puts texts of one meaning near each other', async () => {
    const [car, auto, bread] = (await embedder.embed(
      ['The car broke down.', 'My automobile stopped working.', 'She bakes sourdough every Sunday.'],
      'document',
    )) as [Float32Array, Float32Array, Float32Array]
    expect(car).toHaveLength(384)
    expect(Math.hypot(...car)).toBeCloseTo(1, 5)
    expect(dot(car, auto)).toBeGreaterThan(dot(car, bread) + 0.2)
  })

  it('keeps the order of texts of mixed lengths, and cuts what is too long', async () => {
    const texts = ['word '.repeat(2000), 'short', 'a somewhat longer sentence about rain', '']
    const together = await embedder.embed(texts, 'document')
    for (const [i, text] of texts.entries()) {
      const [alone] = (await embedder.embed([text], 'document')) as [Float32Array]
      // Eight-bit activations are scaled per batch: the same direction, not the same bits.
      expect(dot(alone, together[i] as Float32Array)).toBeGreaterThan(0.97)
    }
    expect(await embedder.embed([], 'query')).toEqual([])
  })
})

it('agrees across runtimes', async () => {
  const vectors = await Promise.all(
    embedders.map(([, embedder]) => embedder.embed(['Deploys wait for the schema'], 'query')),
  )
  for (const [vector] of vectors) {
    expect(dot(vector as Float32Array, vectors[0]?.[0] as Float32Array)).toBeGreaterThan(0.97)
  }
})

it('takes the mean of the tokens of a text, without the padding, for a model that wants it', async () => {
  const model: ModelFiles = { ...bgeSmallEn, pooling: 'mean' }
  // The state of each token points its own way.
  const run = async (_ids: BigInt64Array, _mask: BigInt64Array, rows: number, length: number) => {
    const states = new Float32Array(rows * length * model.dimensions)
    for (let at = 0; at < rows * length; at++) states[at * model.dimensions + (at % length)] = 1
    return states
  }
  vi.mocked(openSession).mockResolvedValueOnce({ runtime: 'wasm', run, close: async () => {} })
  const vectors = await localEmbedder({ model }).embed(['rain', 'rain falls on it'], 'document')
  // The beginning and the end of a text are tokens, too.
  const each = (tokens: number): number[] => new Array(tokens).fill(Math.fround(1 / Math.sqrt(tokens)))
  expect(vectors.map((vector) => [...vector].filter((value) => value > 0))).toEqual([each(3), each(6)])
})

it('may be closed while its model turns out not to be there', async () => {
  const url = pathToFileURL(join(tmpdir(), 'recall-no-model.onnx'))
  const embedder = localEmbedder({ model: { ...bgeSmallEn, weights: { ...bgeSmallEn.weights, url } } })
  const loading = expect(embedder.warmUp?.()).rejects.toMatchObject({ code: MemoryErrorCode.UNAVAILABLE })
  await embedder.close?.()
  await loading
})

it('refuses a model that was changed, or is not there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'recall-model-'))
  try {
    const url = pathToFileURL(join(folder, 'model.onnx'))
    const embedder = localEmbedder({ model: { ...bgeSmallEn, weights: { ...bgeSmallEn.weights, url } } })
    await expect(embedder.warmUp?.()).rejects.toMatchObject({ code: MemoryErrorCode.UNAVAILABLE })
    writeFileSync(url, 'not the model')
    await expect(embedder.embed(['a'], 'query')).rejects.toMatchObject({ code: MemoryErrorCode.CORRUPTION })
  } finally {
    await rm(folder, { recursive: true })
  }
})

it('stops when it is told to, and answers nothing once closed', async () => {
  const embedder = localEmbedder({ runtime: 'native' })
  await expect(
    embedder.embed(['a'], 'query', { signal: AbortSignal.abort(new Error('enough')) }),
  ).rejects.toThrow('enough')
  await embedder.close?.()
  await expect(embedder.embed(['a'], 'query')).rejects.toMatchObject({ code: MemoryErrorCode.CLOSED })
})

it.each(['native', 'wasm'] as const)('%s hears between two runs that it has to stop', async (runtime) => {
  const embedder = localEmbedder({ runtime })
  await embedder.warmUp?.()
  const stop = new AbortController()
  const several = Array.from({ length: 40 }, (_, i) => `text ${i}`)
  const underWay = embedder.embed(several, 'document', { signal: stop.signal })
  // As a timer, a signal of the system, or a message to a thread would come.
  setImmediate(() => stop.abort(new Error('enough')))
  await expect(underWay).rejects.toThrow('enough')
  await embedder.close?.()
})

it('lets a call stop that waits for its turn', async () => {
  const embedder = localEmbedder({ runtime: 'native' })
  const several = Array.from({ length: 40 }, (_, i) => `text ${i}`)
  const first = embedder.embed(several, 'document').then(() => 'answered')
  const stop = new AbortController()
  const next = embedder.embed(['a'], 'query', { signal: stop.signal }).catch(({ message }) => message)
  stop.abort(new Error('enough'))
  expect(await Promise.race([first, next])).toBe('enough')
  expect(await first).toBe('answered')
  await embedder.close?.()
})

it('may be closed twice at once, whatever it is doing', async () => {
  for (const embedder of [localEmbedder({ runtime: 'native' }), workerEmbedder({ runtime: 'native' })]) {
    await embedder.warmUp?.()
    const underWay = embedder.embed(['a'], 'query').then(
      () => 'answered',
      (error) => error.code,
    )
    await Promise.all([embedder.close?.(), embedder.close?.()])
    // The one in this process finishes first, the thread is stopped.
    expect(['answered', MemoryErrorCode.CLOSED]).toContain(await underWay)
    await expect(embedder.embed(['a'], 'query')).rejects.toMatchObject({ code: MemoryErrorCode.CLOSED })
  }
})

it('closes a thread that is in the middle of its work', async () => {
  const embedder = workerEmbedder({ runtime: 'native' })
  const texts = Array.from({ length: 64 }, (_, i) => `text ${i} `.repeat(50))
  const first = embedder.embed(['a'], 'query')
  const underWay = embedder.embed(texts, 'document').catch((error) => error)
  await first
  await embedder.close?.()
  expect(await underWay).toMatchObject({ code: MemoryErrorCode.CLOSED })
})

it('leaves no work to a thread that nobody waits for', async () => {
  const embedder = workerEmbedder({ runtime: 'wasm' })
  await embedder.embed(['a'], 'query')
  const stop = new AbortController()
  const long = Array.from({ length: 400 }, (_, i) => `text ${i} `.repeat(100))
  const abandoned = embedder.embed(long, 'document', { signal: stop.signal }).catch(({ name }) => name)
  stop.abort()
  expect(await abandoned).toBe('AbortError')
  // All of them would take minutes.
  await embedder.embed(['b'], 'query')
  await embedder.close?.()
}, 20_000)

it.each([
  ["runtime must be 'native' or 'wasm', not WASM", { runtime: 'WASM' }],
  ['Unrecognized key: "thread"', { thread: 2 }],
])('says of options, before anything is loaded: %s', (message, options) => {
  const refused = expect.objectContaining({
    code: MemoryErrorCode.INVALID_INPUT,
    message: expect.stringContaining(message),
  })
  for (const embedder of [localEmbedder, workerEmbedder])
    expect(() => embedder(options as object)).toThrow(refused)
  expect(() => workerEmbedder({ model: bgeSmallEn } as object)).toThrow('Unrecognized key: "model"')
})

it('leaves nothing on a signal that lives on', async () => {
  const embedder = workerEmbedder({ runtime: 'native' })
  const { signal } = new AbortController()
  await embedder.embed(['a'], 'query', { signal })
  expect(getEventListeners(signal, 'abort')).toEqual([])
  await embedder.close?.()
})
