import { expect, it } from 'vitest'
import { wordScores } from './word-scores.ts'

it('is 0 for a text that shares only words which say nothing about a subject', () => {
  const [close, far] = wordScores('Add the login of the users', ['Users log in', 'The build of the image'])
  expect(close).toBeGreaterThan(0)
  expect(far).toBe(0)
})

it('finds other forms of a word, and counts a rare word for more than a common one', () => {
  const texts = ['Migrations block the table', 'A test of a table', 'Tests of a table', 'Tests of tables']
  const [migration, test] = wordScores('testing a migration', texts)
  expect(test).toBeGreaterThan(0)
  expect(migration).toBeGreaterThan(test ?? 0)
})
