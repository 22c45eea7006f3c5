import { expect, it } from 'vitest'
import { clip } from './clip.ts'

it('cuts no character in half', () => {
  expect(clip(`ab${'👩‍👩‍👧'.repeat(3)}`, 13)).toBe('ab👩‍👩‍👧…')
  expect(clip('नमस्ते दुनिया', 12)).toBe('नमस्ते दुनि…')
})
