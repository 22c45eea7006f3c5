import { expect, it } from 'vitest'
import { dateWords } from './date-words.ts'

it('names the day', () => {
  expect(dateWords('2023-05-08T13:56:00Z')).toBe('8 May 2023')
  expect(dateWords(Date.UTC(2024, 11, 31))).toBe('31 December 2024')
  expect(dateWords('no date')).toBe('')
})
