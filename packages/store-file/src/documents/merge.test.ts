import { expect, it } from 'vitest'
import { mergeIn, sidesOf, withoutEmptySides } from './merge.ts'

it('tells the two sides of a merge apart, with and without what both come from', () => {
  const merged =
    'a\n<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> 51fb131\nb\n<<<<<<< HEAD\n=======\nmore\n>>>>>>> 51fb131\n'
  expect(sidesOf(merged)).toEqual(['a\nmine\nb\n', 'a\ntheirs\nb\nmore\n'])
  expect(sidesOf(merged.replaceAll('\n', '\r\n'))).toEqual([
    'a\r\nmine\r\nb\r\n',
    'a\r\ntheirs\r\nb\r\nmore\r\n',
  ])
  expect(sidesOf('<<<<<<< a\nmine\n||||||| 123\nbase\n=======\ntheirs\n>>>>>>> b')).toEqual([
    'mine\n',
    'theirs\n',
  ])
})

it('finds no sides where none begins, or none ends', () => {
  for (const text of [
    '',
    'Title\n=======\n',
    '<<<<<<< HEAD\nmine\n=======\n',
    '>>>>>>> 1\n',
    '<<<<<<<HEAD\n',
    'See <<<<<<< HEAD\n=======\n>>>>>>> 1\n',
    '<<<<<<<<\n========\n>>>>>>>>\n',
    '<<<<<<< HEAD\n=======\n>>>>>>> 1\n<<<<<<< HEAD\nmine\n',
  ])
    expect(sidesOf(text)).toBe(null)
})

it('takes a row without text for none of the lines between two sides, but within one', () => {
  const row = '|||||||\n'
  expect(sidesOf(`${row}<<<<<<< HEAD\nmine\n=======\n${row}>>>>>>> 1\n`)).toEqual([
    `${row}mine\n`,
    `${row}${row}`,
  ])
})

it.each([
  ['what both come from', 'mine\n||||||| 1'],
  ['a title that is underlined like the line between', 'Title\n=======\n'],
])('finds both sides with %s, also above a quoted beginning of one', (_, mine) => {
  const merge = `<<<<<<< HEAD\n${mine}\n=======\nyours\n>>>>>>> 1\n`
  expect(mergeIn(`${merge}\n\`\`\`\n<<<<<<< HEAD\n\`\`\`\n`)).toBe('both sides of a merge')
})

it('finds both sides of a note that holds JSON, and none in what a note quotes', () => {
  const side = (n: number) => `updated: "2026-11-27T07:22:4${n}.000Z"\n---\n\`\`\`json\n{ "at": ${n}\n`
  const note = `---\nkey: "a:b"\n<<<<<<< HEAD\n${side(1)}=======\n${side(2)}>>>>>>> 51fb131\n}\n\`\`\`\n`
  expect(mergeIn(note)).toBe('both sides of a merge')
  expect(mergeIn('```\n<<<<<<< HEAD\n=======\n>>>>>>> 51fb131\n```\n')).toBe(null)
})

it('finds a mark that stands alone, but no line below a title, no arrow and no code', () => {
  for (const text of ['a\n<<<<<<< HEAD\nmine\n', 'yours\r\n>>>>>>> 51fb131\r\n'])
    expect(mergeIn(text)).toBe('a mark of an unfinished merge')
  for (const text of ['Title\n=======\n', '<<<<<<<\n', ' >>>>>>> x\n', '~~~\n>>>>>>> 51fb131\n~~~\n'])
    expect(mergeIn(text)).toBe(null)
})

it('drops a merge of which no side is left, and none of which one is', () => {
  expect(withoutEmptySides('a\r\n<<<<<<< HEAD\r\n\r\n||||||| 1\r\n=======\r\n>>>>>>> 1\r\nb')).toBe('a\r\nb')
  for (const merge of ['<<<<<<< HEAD\nmine\n=======\n>>>>>>> 1', '<<<<<<< HEAD\n=======\nyours\n>>>>>>> 1\n'])
    expect(withoutEmptySides(merge)).toBe(merge)
})
