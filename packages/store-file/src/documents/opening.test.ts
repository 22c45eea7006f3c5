import { expect, it } from 'vitest'
import { openingOf } from './opening.ts'

it('finds the first line of the summary, or of what was said, below any front matter', () => {
  const archive = '---\nlog: 1\n---\n## Summary\n\nThe pool leaked.\nIt is fixed.\n\n### User\n\nWhy?\n'
  expect(openingOf(archive)).toBe('The pool leaked.')
  expect(openingOf(archive.replaceAll('\n', '\r\n'))).toBe('The pool leaked.')
  expect(openingOf('### User\n\n> [tool] Bash: ls\n\nWhy?\n')).toBe('Why?')
})

it('finds nothing where nothing is said, or the front matter goes on', () => {
  expect(openingOf('')).toBeUndefined()
  expect(openingOf('---\nlog: 1\n---\n## Summary\n')).toBeUndefined()
})
