import { expect, it } from 'vitest'
import { wordsDigest } from './words-digest.ts'

const text = 'Raise the pool to 20, then restart.'
const digest = wordsDigest('ada', text)

it.each([
  ['spaced', 'Raise the  pool to\n20, then restart.'],
  ['punctuated', 'Raise the pool to "20" \u2014 then restart!'],
  ['capitalized', 'RAISE the Pool to 20, then restart.'],
  ['broken by what nobody sees', 'Ra\u200bise the po\u00adol to 20, then restart.'],
  ['accented', 'Ra\u0301ise the po\u0308ol to 20\u0301, then restärt.'],
  ['spelled in letters that look much the same', 'Ｒａｉｓｅ the pool to ２０, then re\u017ftart.'],
])('is that of the same words, however they are %s', (_, same) => {
  expect(wordsDigest('ada', same)).toBe(digest)
})

it.each([
  ['another author', wordsDigest('bob', text)],
  ['another word', wordsDigest('ada', text.replace('20', '30'))],
  ['another order', wordsDigest('ada', 'then restart. Raise the pool to 20,')],
  ['other bounds between words', wordsDigest('ada', text.replace('the pool', 'thepool'))],
])('is another one for %s', (_, other) => {
  expect(other).not.toBe(digest)
})
