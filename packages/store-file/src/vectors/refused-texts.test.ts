import { type Embedder, MemoryError, MemoryErrorCode, refusesText } from '@recall/core'
import { expect, it } from 'vitest'
import { createRefusedTexts, embedUnlessRefused } from './refused-texts.ts'

/** Refuses texts with some word, and counts the calls. */
function refusing(word: string, details: Record<string, unknown> = { refusesText: true }) {
  const calls: (readonly string[])[] = []
  const embedder: Embedder = {
    model: 'picky',
    dimensions: 2,
    async embed(texts) {
      calls.push(texts)
      if (texts.some((text) => text.includes(word)))
        throw new MemoryError('too long', MemoryErrorCode.UNAVAILABLE, { details })
      return texts.map((text) => (text === 'up' ? Float32Array.of(0, 1) : Float32Array.of(1, 0)))
    },
  }
  return { embedder, calls }
}

it('gives each text its vector, or the error about it', async () => {
  const { embedder, calls } = refusing('long')
  const texts = ['long', 'up', 'a long one', 'right']
  const answers = await embedUnlessRefused(embedder, texts, {})
  expect(answers.map((answer) => (refusesText(answer) ? answer.message : [...answer]))).toEqual([
    'too long',
    [0, 1],
    'too long',
    [1, 0],
  ])
  expect(calls).toHaveLength(1 + texts.length)
})

it('goes on after no other error', async () => {
  const { embedder, calls } = refusing('long', { status: 400 })
  await expect(embedUnlessRefused(embedder, ['long', 'up'], {})).rejects.toThrow('too long')
  expect(calls).toHaveLength(1)
})

it('remembers the latest texts only', () => {
  const refused = createRefusedTexts(2)
  for (const hash of ['a', 'b', 'c']) refused.add(hash, `of ${hash}`)
  expect(['a', 'b', 'c'].filter(refused.has)).toEqual(['b', 'c'])
  expect(refused.reasonOf('c')).toBe('of c')
  expect(refused.reason()).toBe('of b')
})
