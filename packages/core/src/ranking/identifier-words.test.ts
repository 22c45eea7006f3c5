import fc from 'fast-check'
import { expect, it } from 'vitest'
import { identifierWords, innerWords, wordsInIdentifiers } from './identifier-words.ts'
import { indexedTerms, queryTerms, queryWords } from './words.ts'

it('finds the same words in identifiers of ASCII as in those of other letters', () => {
  const cyrillic = (word: string): string =>
    word.replace(/[abAB]/g, (letter) => 'абАБ'['abAB'.indexOf(letter)] as string)
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'B', '1', '_'), maxLength: 20 })
  fc.assert(
    fc.property(word, (written) => {
      expect(identifierWords(cyrillic(written))).toEqual(identifierWords(written).map(cyrillic))
    }),
  )
})

it('finds the words inside identifiers', () => {
  expect(identifierWords('searchMemories')).toEqual(['search', 'Memories'])
  expect(identifierWords('HTTPServerError2')).toEqual(['HTTP', 'Server', 'Error'])
  expect(identifierWords('parseJSON')).toEqual(['parse', 'JSON'])
  expect(identifierWords('übergrößeÄndern')).toEqual(['übergröße', 'Ändern'])
  expect(identifierWords('getNameשם')).toEqual(['get', 'Name', 'שם'])
})

it('leaves other words alone', () => {
  for (const word of ['harbour', 'Harbour', 'HTTP', 'v15', 'E4711', '世界', '']) {
    expect(identifierWords(word)).toEqual([])
  }
})

it('gives only what stands in the identifier, in its order', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      let after = 0
      for (const word of identifierWords(text)) {
        const at = text.indexOf(word, after)
        expect(at).toBeGreaterThanOrEqual(after)
        after = at + word.length
      }
    }),
  )
})

it('lists them for engines of their own', () => {
  expect(wordsInIdentifiers('call openFileMemory(root) in memory_store.ts')).toBe('open File Memory')
  expect(wordsInIdentifiers('nothing here')).toBe('')
})

it('lists those of a text as those of its words, one by one', () => {
  const piece = fc.constantFrom(
    'searchMemories',
    'HTTPServer',
    'plain',
    'é',
    'Größe',
    'xY',
    '𝒜𝒷',
    '🙂',
    ' ',
    '-',
    '_',
    '7',
    'ǅ',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece).map((pieces) => pieces.join('')),
        fc.string({ unit: 'binary' }),
      ),
      (text) => {
        const words = text.match(/[\p{L}\p{N}\p{M}\p{Co}]+/gu) ?? []
        expect(wordsInIdentifiers(text)).toBe(words.flatMap((word) => innerWords(word)).join(' '))
      },
    ),
  )
})

it('makes an identifier and its words meet, in texts and in queries', () => {
  const terms = indexedTerms('see searchMemories here').map(({ term }) => term)
  for (const asked of ['search memories', 'searchMemories', 'SearchMemories']) {
    expect(terms).toEqual(expect.arrayContaining(queryTerms(asked)))
  }
  expect(queryWords('searchMemories')).toEqual(['searchmemories', 'search', 'memories'])
  expect(queryTerms('youTube')).not.toContain('you')
})
