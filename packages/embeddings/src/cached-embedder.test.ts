import type { Embedder } from '@recall/core'
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

it('asks again after a failure', async () => {
  const fake = fakeEmbedder()
  let failures = 1
  const cached = cachedEmbedder({
    ...fake,
    embed: async (texts, mode) => {
      if (failures-- > 0) throw new Error('down')
      return fake.embed(texts, mode)
    },
  })
  await expect(cached.embed(['a'], 'document')).rejects.toThrow('down')
  expect(await cached.embed(['a'], 'document')).toHaveLength(1)
})
