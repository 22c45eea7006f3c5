import fc from 'fast-check'
import { expect, it } from 'vitest'
import { foldLetters } from './fold-letters.ts'

it.each([
  ['Straße, GROẞ', 'Strasse, GROSS'],
  ['Łódź in Ørsted, Đorđe', 'Lodz in Orsted, Dorde'],
  ['œuvre, Æther, Þór, ılık İs', 'oeuvre, AEther, THor, ilik Is'],
  ['naïve cafe\u0301', 'naive cafe'],
  ['Σίσυφος ёлка', 'Σισυφος елка'],
  ['г\u0483и كتاب\u06d6', 'ги كتاب'],
  ['שָׁלוֹם سَلام ســلام', 'שלום سلام سلام'],
  ['ﬁle Ⅳ x² ＡＰＩ ①', 'file IV x2 API 1'],
  ['ｶﾞｲﾄﾞ', 'ガイド'],
])('%s becomes %s', (text, folded) => {
  expect(foldLetters(text)).toBe(folded)
})

it.each(['ガ', 'किताब', 'ที่นี่', '학교에서', '数据库'])('leaves %s as it is', (text) => {
  expect(foldLetters(text)).toBe(text)
})

it('leaves signs and punctuation as they are, also those that stand for letters', () => {
  for (const text of ['Recall™ — “so” … №', '1½ of it', '😀👩‍🔧'.normalize('NFC')])
    expect(foldLetters(text)).toBe(text)
})

const signs = (all: string): string => all.replace(/[\p{L}\p{N}\p{M}\p{Co}]+/gu, '')

it('changes no character the second time, and no sign', () => {
  // Beyond are only Han characters, which have no other form.
  for (let at = 0; at < 0x30000; at++) {
    const character = String.fromCodePoint(at)
    const folded = foldLetters(character)
    if (foldLetters(folded) !== folded || signs(folded) !== signs(character.normalize('NFC')))
      expect.fail(`U+${at.toString(16)} becomes ${folded}`)
  }
})

it('changes nothing the second time, and nothing but words', () => {
  const special = fc.constantFrom(...'eé\u0301ßﬁ½ｶﾞ한ﾠ\u3099कि—™ ')
  const text = fc.string({ unit: fc.oneof(special, fc.string({ maxLength: 1, unit: 'binary' })) })
  fc.assert(
    fc.property(text, (all) => {
      const folded = foldLetters(all)
      expect(foldLetters(folded)).toBe(folded)
      expect(signs(folded)).toBe(signs(all.normalize('NFC')))
    }),
    { numRuns: 2000 },
  )
})
