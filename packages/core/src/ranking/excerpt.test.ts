import fc from 'fast-check'
import { expect, it } from 'vitest'
import { excerptOf } from './excerpt.ts'
import { queryTerms } from './words.ts'

const find = (text: string, query: string, length: number): string =>
  excerptOf(text, new Set(queryTerms(query)), length)
const filler = 'lorem ipsum dolor sit amet '.repeat(20)

it('leaves a text that is short enough whole', () => {
  expect(find('The pool leaks.', 'zebra', 15)).toBe('The pool leaks.')
})

it('shows the beginning of a text that holds the words there, or none of them', () => {
  expect(find(`The pool leaks. ${filler}`, 'pool', 20)).toBe('The pool leaks. lore…')
  expect(find(`The pool leaks. ${filler}`, 'zebra', 15)).toBe('The pool leaks.…')
  expect(find(`Now the pool leaks. ${filler}`, 'pool', 20)).toBe('Now the pool leaks. …')
})

it('shows the words that were looked for, wherever they stand', () => {
  expect(find(`${filler}the pools were leaking badly`, 'leak pool', 40)).toBe(
    '…sit amet the pools were leaking badly',
  )
  expect(find(`${filler}poolClient ${filler}`, 'client', 40)).toContain('poolClient')
  expect(find(`${'早'.repeat(50)}。数据库连接泄漏`, '连接', 20)).toContain('连接')
  expect(find(`${filler}leaking ${filler}`, 'leak', 'leaking'.length)).toBe('…leaking…')
})

it('prefers the place with the most of the words', () => {
  const text = `the pool, ${filler} the pool, ${filler} a leak of the pool, ${filler}`
  expect(find(text, 'pool leak', 60)).toContain('a leak of the pool')
})

it('begins with a word that follows a run without blanks', () => {
  expect(find(`${'早'.repeat(50)}。pool leak`, 'pool', 20)).toBe('…pool leak')
})

it('prefers a place that fits to one with more of the words', () => {
  const far = `the pool ${filler}a leak ${filler}a retry ${filler}`
  expect(find(`${far}a leak of the pool, ${filler}`, 'pool leak retry', 60)).toContain('a leak of the pool')
})

it('takes a word that stands twice for the one that is closer to the others', () => {
  const near = 'a pool of ten, and the pool leaks'
  expect(find(`the pool that never leaks ${filler}${near} ${filler}`, 'pool leak', 60)).toContain(near)
})

it('shows the words where they stand closest, and what stands on either side of them', () => {
  const far = `the pool ${'lorem '.repeat(8)}leaks`
  const near = 'Ana found in May that the pool leaks when a retry fails'
  expect(find(`${far} ${filler}${near} ${filler}`, 'pool leak', 80)).toContain(near)
})

it('passes over a run of letters that is longer than an excerpt, and shows the words behind it', () => {
  const run = '数据库连接泄漏'.repeat(10)
  const told = 'Ana found in May that the pool leaks when a retry fails'
  const text = `${run}。${filler}${told} ${filler}and later the pool, and a leak`
  expect(find(text, 'pool leak 连接', 60)).toContain('that the pool leaks when')
  expect(find(`${run}。${filler}pool ${run} leak`, 'pool leak 连接', 60)).toContain('pool')
})

it('never exceeds its length, cuts no character apart, and shows what there is', () => {
  const word = fc.constantFrom('pool', 'leak', '👩‍💻', 'größe', '数据库', '\n', ' ', 'x'.repeat(30), '\uD83D')
  fc.assert(
    fc.property(fc.array(word, { maxLength: 60 }), fc.integer({ min: 40, max: 80 }), (words, length) => {
      const text = words.join(' ').toWellFormed()
      const excerpt = find(text, 'pool', length)
      const piece = text.length <= length ? excerpt : excerpt.replace(/^…|…$/g, '')
      expect(piece.length).toBeLessThanOrEqual(length)
      expect(text).toContain(piece)
      expect(piece.isWellFormed()).toBe(true)
      expect(excerpt.includes('pool')).toBe(text.includes('pool'))
    }),
  )
})
