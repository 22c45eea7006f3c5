import { expect, it } from 'vitest'
import { splitByRarity } from './max-score.ts'

it('looks for all words at once where the rarer ones are in most of the units', () => {
  const word = (name: string, count: number) => ({
    word: name,
    count,
    rarity: Math.log((1000 - count) / count),
  })
  const split = (each: number) => {
    const words = ['bee', 'cat', 'dog', 'eel'].map((name) => word(name, each))
    const { finding, counting } = splitByRarity([word('fox', 490), ...words, word('ant', 20)], 10, 1000)
    return { finding, counting }
  }
  const rarer = ['ant', 'bee', 'cat', 'dog', 'eel']
  expect(split(100)).toEqual({ finding: rarer, counting: ['fox'] })
  expect(split(130)).toEqual({ finding: [...rarer, 'fox'], counting: [] })
})
