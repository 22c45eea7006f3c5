import { expect, it } from 'vitest'
import { clip } from './clip.ts'

it('cuts no character in half', () => {
  expect(clip(`ab${'👩‍👩‍👧'.repeat(3)}`, 13)).toBe('ab👩‍👩‍👧…')
  expect(clip('नमस्ते दुनिया', 12)).toBe('नमस्ते दुनि…')
})

it('leaves a text alone that is no longer than it may be', () => {
  expect([clip('six si', 6), clip('six six', 6), clip('', 0)]).toEqual(['six si', 'six s…', ''])
})

it('cuts at the end of a word that is near, with no white space before the mark', () => {
  expect(clip('one two three four', 16)).toBe('one two three…')
  expect(clip('one twothreefourfive', 12)).toBe('one twothre…')
  expect(clip('one two\n\nthree', 10)).toBe('one two…')
})
