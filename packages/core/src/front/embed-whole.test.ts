import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Embedder } from '../embedder.ts'
import { wordVector } from '../ranking/word-vector.ts'
import { embedWhole, mayBeCut } from './embed-whole.ts'

/** Knows two subjects, one by each letter, and keeps what it was given. */
function recording(limits: Pick<Embedder, 'maxTokens' | 'maxBatch'>) {
  const calls: (readonly string[])[] = []
  const count = (text: string, letter: string): number => text.split(letter).length - 1
  const embedder: Embedder = {
    model: 'letters',
    dimensions: 3,
    ...limits,
    embed: async (texts) => {
      calls.push(texts)
      return texts.map((text) => Float32Array.of(count(text, 'a'), count(text, 'b'), 0.001))
    },
  }
  return { embedder, calls }
}

it('gives a text that the model reads whole to it as it is', async () => {
  const { embedder, calls } = recording({ maxTokens: 100 })
  const texts = ['a '.repeat(100), 'b']
  expect(await embedWhole(embedder, texts, 'document')).toHaveLength(2)
  expect(calls).toEqual([texts])
  expect(texts.some((text) => mayBeCut(embedder, text))).toBe(false)
  expect(mayBeCut({}, 'a'.repeat(100_000))).toBe(false)
})

it('hears the end of a long text, and weighs its parts by their length', async () => {
  const { embedder, calls } = recording({ maxTokens: 100 })
  const text = `${'a '.repeat(400)}${'b '.repeat(100)}`
  expect(mayBeCut(embedder, text)).toBe(true)
  const [vector = []] = await embedWhole(embedder, [text], 'document')
  expect(calls.flat().length).toBeGreaterThan(3)
  expect(vector[1]).toBeGreaterThan(0.1)
  expect(vector[0]).toBeGreaterThan(vector[1] as number)
  expect(Math.hypot(...vector)).toBeCloseTo(1, 5)
  const [hardly = []] = await embedWhole(embedder, [`${'a '.repeat(150)}b`], 'document')
  expect(hardly[1]).toBeLessThan(0.1)
})

it('asks for no more parts at once than the model handles', async () => {
  const { embedder, calls } = recording({ maxTokens: 10, maxBatch: 4 })
  expect(await embedWhole(embedder, ['a '.repeat(200), 'b', 'a b '.repeat(50)], 'document')).toHaveLength(3)
  expect(Math.max(...calls.map(({ length }) => length))).toBe(4)
})

it('leaves nothing out, tears no character, and gives no more than the model reads', async () => {
  const tokens = (text: string): number =>
    [...text].reduce((sum, each) => sum + (each > '\u007f' ? each.length : 1 / 3), 0)
  const texts = fc.array(fc.string({ unit: fc.constantFrom('word ', 'x', ' ', '\n', 'ü', '😀') }), {
    minLength: 1,
  })
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 2, max: 20 }), async (given, maxTokens) => {
      const { embedder, calls } = recording({ maxTokens })
      await embedWhole(embedder, given, 'document')
      const parts = calls.flat()
      expect(parts.join('').replace(/\s/g, '')).toBe(given.join('').replace(/\s/g, ''))
      for (const part of parts) {
        expect(part.isWellFormed()).toBe(true)
        expect(tokens(part)).toBeLessThanOrEqual(maxTokens + 1e-9)
      }
    }),
  )
})

it('gives of a blank text no more than the model reads', async () => {
  const { embedder, calls } = recording({ maxTokens: 2 })
  expect(await embedWhole(embedder, ['  \n\n  \n', ''], 'document')).toHaveLength(2)
  expect(calls).toEqual([['  \n\n  ', '']])
})

it('tells what the model cannot read apart by its words', async () => {
  const { embedder, calls } = recording({ maxTokens: 100 })
  const texts = ['a', 'Где течёт пул?', 'b', 'Сборка падает']
  const [a, leak, b, build] = await embedWhole({ ...embedder, scripts: ['Latin'] }, texts, 'document')
  expect([a, b]).toEqual(await embedWhole(embedder, ['a', 'b'], 'document'))
  expect([leak, build]).toEqual([wordVector('Где течёт пул?', 3), wordVector('Сборка падает', 3)])
  expect(calls.flat()).not.toContain('Сборка падает')
})
