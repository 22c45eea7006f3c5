import { queryTerms } from '@recall/core/ranking'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { matchingLines } from '../src/search/matching-lines.ts'

const all = { mayHaveFrontMatter: true, enough: Number.POSITIVE_INFINITY }

const find = (query: string, ...lines: string[]): number[] =>
  matchingLines(lines, new Set(queryTerms(query)), all).lines

it.each(['Müller', 'muller', 'Äpfel', 'ÜBUNG', 'key', 'days', 'ties', 'İzmir', '안녕하세요', 'être', '数据'])(
  'finds the line of %s, however it is written there',
  (word) => {
    expect(find(word, 'something else', `there ${word} stands`)).toEqual([1])
    expect(find(word, '---', 'key: "Müller"', '---', word.normalize('NFD').toLowerCase())).toEqual([3])
  },
)

it('finds a word with diacritics by the letters below them, and the other way round', () => {
  expect(find('muller', 'Frau Müller')).toEqual([0])
  expect(find('Müller', 'Frau Muller')).toEqual([0])
})

it('finds every word in the line that holds it', () => {
  const latin = fc.stringMatching(/^[a-zA-ZäöüßéèçñåøšžğİıŁ]{1,12}$/)
  fc.assert(
    fc.property(latin, (word) => {
      expect(find(word, '', `${word}.`)).toEqual([1])
    }),
    { numRuns: 2000 },
  )
})

it('finds every line of a long log', () => {
  const log = Array.from({ length: 200_000 }, () => 'error')
  expect(matchingLines(log, new Set(queryTerms('error')), all).lines).toHaveLength(log.length)
})

it('looks no further once enough lines hold all of the words', () => {
  const looked: string[] = []
  const lines = ['pool', 'pool leak', 'a leak of the pool', 'pool leak again', 'the leak in the pool']
  const watched = new Proxy(lines, {
    get: (target, at, receiver) => {
      const line = Reflect.get(target, at, receiver)
      if (typeof line === 'string') looked.push(line)
      return line
    },
  })
  expect(
    matchingLines(watched, new Set(queryTerms('pool leak')), { mayHaveFrontMatter: false, enough: 2 }),
  ).toEqual({
    lines: [1, 2],
    words: 2,
  })
  expect(looked).toEqual(lines.slice(0, 3))
})
