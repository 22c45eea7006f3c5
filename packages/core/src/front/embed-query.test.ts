import { expect, it } from 'vitest'
import type { Embedder } from '../embedder.ts'
import { embedQuery } from './embed-query.ts'

const asked: string[] = []
const embedder: Embedder = {
  model: 'latin-v1',
  dimensions: 2,
  scripts: ['Latin'],
  unrelated: { mean: 0.5, deviation: 0.1 },
  embed: async (texts) => {
    asked.push(...texts)
    return texts.map(() => Float32Array.of(1, 0))
  },
}

it('asks a model of what it can read, and of nothing else', async () => {
  const unrelated = { mean: 0.5, deviation: 0.1 }
  expect(await embedQuery(embedder, 'Where did it leak?')).toEqual({
    model: 'latin-v1',
    vector: [1, 0],
    unrelated,
  })
  expect(await embedQuery(embedder, 'Где течёт пул?')).toBeUndefined()
  expect(asked).toEqual(['Where did it leak?'])
})
