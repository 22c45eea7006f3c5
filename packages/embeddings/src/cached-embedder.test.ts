import { type Embedder, MemoryErrorCode } from '@recall/core'
import { expect, it } from 'vitest'
import { cachedEmbedder } from './cached-embedder.ts'
import { fakeEmbedder } from './fake-embedder.ts'

function counted(): { embedder: Embedder; asked: string[] } {
  const fake = fakeEmbedder()
  const asked: string[] = []
  return {
    asked,
    embedder: {
      ...fake,
      embed: async (texts, mode) => {
        asked.push(...texts)
        return fake.embed(texts, mode)
      },
    },
  }
}

it('asks for each text once', async () => {
  const { embedder, asked } = counted()
  const cached = cachedEmbedder(embedder)
  const [first] = await Promise.all([
    cached.embed(['a', 'b', 'a'], 'document'),
    cached.embed(['b'], 'document'),
  ])
  expect(await cached.embed(['b', 'a', 'c'], 'document')).toEqual(
    await fakeEmbedder().embed(['b', 'a', 'c'], 'document'),
  )
  expect(first?.[0]).toEqual(first?.[2])
  expect(asked).toEqual(['a', 'b', 'c'])
})

it('keeps its vectors to itself, whatever becomes of those that it gave', async () => {
  const cached = cachedEmbedder(fakeEmbedder())
  const right = await fakeEmbedder().embed(['a', 'a'], 'document')
  for (let call = 0; call < 3; call++) {
    const vectors = await cached.embed(['a', 'a'], 'document')
    expect(vectors).toEqual(right)
    vectors[0]?.fill(9)
    expect(vectors[1]).toEqual(right[1])
  }
})

it('keeps queries and documents apart', async () => {
  const { embedder, asked } = counted()
  const cached = cachedEmbedder(embedder)
  await cached.embed(['a'], 'document')
  await cached.embed(['a'], 'query')
  expect(asked).toEqual(['a', 'a'])
})

it('answers whole even when it keeps less than a call asks for', async () => {
  const { embedder } = counted()
  const texts = ['a', 'b', 'c', 'd']
  expect(await cachedEmbedder(embedder, { max: 2 }).embed(texts, 'document')).toEqual(
    await fakeEmbedder().embed(texts, 'document'),
  )
})

it('asks again after a failure, and once', async () => {
  const fake = fakeEmbedder()
  let calls = 0
  const cached = cachedEmbedder({
    ...fake,
    embed: async (texts, mode) => {
      if (++calls === 1) throw new Error('down')
      return fake.embed(texts, mode)
    },
  })
  await expect(cached.embed(['a'], 'document')).rejects.toThrow('down')
  for (let call = 0; call < 3; call++) expect(await cached.embed(['a'], 'document')).toHaveLength(1)
  expect(calls).toBe(2)
})

it('lets a call stop that waits for what another one asked', async () => {
  const cached = cachedEmbedder({ ...fakeEmbedder(), embed: () => new Promise(() => {}) })
  void cached.embed(['a'], 'query')
  const stop = new AbortController()
  const waiting = cached.embed(['a'], 'query', { signal: stop.signal })
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})

it('remembers no answer that lacks a vector', async () => {
  const fake = fakeEmbedder()
  const answers = [[], [new Float32Array(64).fill(Number.NaN)]]
  const cached = cachedEmbedder({
    ...fake,
    embed: async (texts, mode) => answers.shift() ?? fake.embed(texts, mode),
  })
  await expect(cached.embed(['a'], 'document')).rejects.toMatchObject({ code: 'MEMORY_UNAVAILABLE' })
  await expect(cached.embed(['a'], 'document')).rejects.toMatchObject({ code: 'MEMORY_UNAVAILABLE' })
  expect(await cached.embed(['a'], 'document')).toEqual(await fake.embed(['a'], 'document'))
})

it('gives a call its vectors although another one that asked for them was given up', async () => {
  const fake = fakeEmbedder()
  const cached = cachedEmbedder({
    ...fake,
    embed: (texts, mode, { signal } = {}) =>
      signal
        ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        : fake.embed(texts, mode),
  })
  const stop = new AbortController()
  const impatient = cached.embed(['a', 'b'], 'query', { signal: stop.signal })
  const patient = cached.embed(['b', 'c', 'a'], 'query')
  stop.abort(new Error('enough'))
  await expect(impatient).rejects.toThrow('enough')
  expect(await patient).toEqual(await fake.embed(['b', 'c', 'a'], 'query'))
})

it('hands on the signal of a call, also for what it could not keep', async () => {
  const fake = fakeEmbedder()
  const signals: (AbortSignal | undefined)[] = []
  const cached = cachedEmbedder(
    {
      ...fake,
      embed: async (texts, mode, { signal } = {}) => {
        signals.push(signal)
        return fake.embed(texts, mode)
      },
    },
    { max: 1 },
  )
  const { signal } = new AbortController()
  await cached.embed(['a', 'b'], 'query', { signal })
  expect(signals).toEqual([signal, signal])
})

it('says what its embedder says of itself, also when that is an object of a class', async () => {
  let closes = 0
  let warmUps = 0
  class Own implements Embedder {
    get model() {
      return 'own'
    }
    readonly dimensions = 64
    readonly maxBatch = 7
    readonly maxTokens = 512
    readonly scripts = ['Latin']
    readonly unrelated = { mean: 0.4, deviation: 0.1 }
    embed = fakeEmbedder().embed
    async warmUp() {
      warmUps++
    }
    async close() {
      closes++
    }
  }
  const cached = cachedEmbedder(new Own())
  expect(cached).toMatchObject({
    model: 'own',
    dimensions: 64,
    maxBatch: 7,
    maxTokens: 512,
    scripts: ['Latin'],
    unrelated: { mean: 0.4, deviation: 0.1 },
  })
  await cached.warmUp?.()
  expect(warmUps).toBe(1)
  await cached.close?.()
  expect(closes).toBe(1)
  expect(cachedEmbedder(fakeEmbedder()).warmUp).toBeUndefined()
})

it('refuses an option that there is not', () => {
  const misspelt = { maximum: 5 } as object
  expect(() => cachedEmbedder(fakeEmbedder(), misspelt)).toThrow('Unrecognized key: "maximum"')
})

it.each([0, -1, 1.5, Number.NaN, '5'])('is not made to keep %s vectors', (max) => {
  expect(() => cachedEmbedder(fakeEmbedder(), { max: max as number })).toThrow(
    expect.objectContaining({
      code: MemoryErrorCode.INVALID_INPUT,
      message: `max must be a whole number of at least 1, not ${max}`,
    }),
  )
})
