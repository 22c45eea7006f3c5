import { expect, it } from 'vitest'
import { markedBlock } from './marked-block.ts'
import { CannotEdit } from './target.ts'

const edit = markedBlock('x', 'one\ntwo')
const block = edit.add(null).trimEnd()
const [begin = '', , , end = ''] = block.split('\n')

it('is found and updated in its own line ends in a file that has both kinds', () => {
  const text = `mine\r\n\r\n${block}\nbelow\r\n`
  expect(edit.add(text)).toBe(text)
  expect(edit.add(text.replace('one', 'old'))).toBe(text)
  expect(edit.remove(text)).toBe('mine\r\n\r\nbelow\r\n')
})

it('ends at the first end behind its beginning', () => {
  const text = `they quote ${end}\n\n${block}\n`
  expect(edit.add(text.replace('one', 'old'))).toBe(text)
  expect(edit.remove(text)).toBe(`they quote ${end}\n`)
})

it('that lost its end is neither written a second time nor taken out', () => {
  const text = `mine\n${begin}\none\n`
  expect(() => edit.add(text)).toThrow(CannotEdit)
  expect(() => edit.remove(text)).toThrow(CannotEdit)
})

it('goes with the empty line before it, and leaves the lines around it', () => {
  for (const text of ['mine\n', 'mine', 'mine\n\n', '', '\n'])
    expect(edit.remove(edit.add(text)) ?? '').toMatch(text.trim() === '' ? /^$/ : /^mine\n*$/)
  expect(edit.remove(`${block}\nmine\n`)).toBe('mine\n')
  expect(edit.remove(`mine\n\n${block}`)).toBe('mine\n')
  expect(edit.remove(`${block} mine\n`)).toBe(' mine\n')
})

it.each([
  ['mine', '\n\n', '\n'],
  ['mine\n', '\n', '\n'],
  ['mine\r\n', '\r\n', '\r\n'],
  ['\n', '', '\n'],
])('stands on lines of its own behind %j, and an empty line before it', (text, gap, eol) => {
  expect(edit.add(text)).toBe(`${text}${gap}${block.replaceAll('\n', eol)}${eol}`)
})
