import { expect, it } from 'vitest'
import { bestPassage } from './passages.ts'
import { queryTerms } from './words.ts'

const paragraph = (i: number): string =>
  `Paragraph number ${i} says nothing of note, and says it at some length.`
const long = (marked: Record<number, string>): string =>
  Array.from({ length: 30 }, (_, i) => marked[i] ?? paragraph(i)).join('\n\n')

it('takes a short text whole', () => {
  expect(bestPassage('one\n\ntwo', ['two'])).toEqual({ text: 'one\n\ntwo' })
  expect(bestPassage('', ['two'])).toEqual({ text: '' })
  expect(bestPassage(' '.repeat(2000), ['two'])).toEqual({ text: '' })
})

it('takes the paragraph with most of the words and shows its neighbours', () => {
  const text = long({ 7: 'A zeppelin.', 12: 'The zeppelin lands\nin the harbour.' })
  const passage = bestPassage(text, queryTerms('zeppelin harbour'))
  expect(passage).toEqual({
    text: 'The zeppelin lands\nin the harbour.',
    neighbours: [paragraph(11), paragraph(13)],
  })
})

it('has one neighbour at either end', () => {
  expect(bestPassage(long({ 0: 'zeppelin' }), ['zeppelin'])).toEqual({
    text: 'zeppelin',
    neighbours: [paragraph(1)],
  })
  expect(bestPassage(`${long({ 29: 'zeppelin' })}\n\n  `, ['zeppelin'])).toEqual({
    text: 'zeppelin',
    neighbours: [paragraph(28)],
  })
})

it('takes the first of equals', () => {
  expect(bestPassage(long({}), ['zeppelin']).text).toBe(paragraph(0))
})
