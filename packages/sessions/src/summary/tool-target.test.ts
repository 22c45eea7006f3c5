import { expect, it } from 'vitest'
import { toolTarget } from './tool-target.ts'

const telling = [
  'file_path',
  'path',
  'notebook_path',
  'command',
  'pattern',
  'query',
  'url',
  'description',
  'prompt',
  'name',
]

it.each(telling)('shows %s before what tells less, wherever it stands', (member) => {
  const others = telling.slice(telling.indexOf(member) + 1)
  const input = Object.fromEntries(['other', ...others, member].map((name) => [name, `the ${name}`]))
  expect(toolTarget(input)).toBe(`the ${member}`)
})

it('shows the first text where no such member has one, on one short line', () => {
  expect(toolTarget({ path: ' ', count: 3, note: 'one\n two', more: 'three' })).toBe('one two')
  expect(toolTarget('ls\n  -l')).toBe('ls -l')
  expect(toolTarget('x'.repeat(121))).toBe(`${'x'.repeat(119)}…`)
  expect(toolTarget({ command: 'x'.repeat(121) })).toBe(`${'x'.repeat(119)}…`)
  expect([null, 3, ['a text'], { count: 3 }].map(toolTarget)).toEqual(['', '', '', ''])
})
