import { expect, it } from 'vitest'
import { parseHeading } from './heading.ts'

it.each([
  ['# Title', 1, 'Title'],
  ['##   Spread out  \r\n', 2, 'Spread out'],
  ['## C#', 2, 'C#'],
  ['## C# ##\t\n', 2, 'C#'],
  ['###### a # b #', 6, 'a # b'],
])('reads %j as a heading of level %i', (line, level, text) => {
  expect(parseHeading(line)).toEqual({ level, text })
})

it.each(['text', '#tag', '####### seven', ' ## indented', '## ', '##  \t\r\n', '##', '## ##'])(
  'reads %j as no heading',
  (line) => {
    expect(parseHeading(line)).toBeNull()
  },
)

it('takes no time for a long run of blanks and marks', () => {
  const text = `a${' '.repeat(50_000)}b${' #'.repeat(50_000)}`
  expect(parseHeading(`## ${text}c`)?.text).toBe(`${text}c`)
})
