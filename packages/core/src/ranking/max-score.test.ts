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
    return splitByRarity([word('ant', 20), ...words, word('fox', 490)], 10, 1000).counting
  }
  expect(split(100)).toEqual(['fox'])
  expect(split(130)).toEqual([])
})
