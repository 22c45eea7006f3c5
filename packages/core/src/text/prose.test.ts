import fc from 'fast-check'
import { expect, it } from 'vitest'
import { proseLines } from './prose.ts'

it.each([
  ['prose', ['## One', 'text'], 'yy'],
  ['fenced code', ['```sh', '# not one', '```', '# One'], '...y'],
  ['a comment of several lines', ['<!--', '## not one', '-->', '## One'], '...y'],
  ['a comment of one line', ['<!-- ## not one -->', '## One'], '.y'],
  ['a comment that never ends', ['## One', '  <!-- so', '## not one'], 'y..'],
  ['a comment within a line', ['text <!-- and', '## One'], 'yy'],
  ['a fence in a comment', ['<!--', '```', '-->', '## One'], '...y'],
  ['a comment in fenced code', ['```', '<!--', '```', '## One'], '...y'],
  ['front matter', ['---\r\n', '# not one\r\n', '---\r\n', '# One\r\n'], '...y'],
  [
    'fields of front matter',
    ['---', 'a:', '  b: 1', '- c', '# d', '', 'e-f: "g"', '---', '# One'],
    '........y',
  ],
  [
    'a text between two rules',
    ['---', '', '## One', '', 'Ana: is here', 'text', '---', '## Two'],
    'yyyyyyyy',
  ],
  ['a heading between two rules', ['---', '## One', '---', '## Two'], 'yyyy'],
  ['a rule in the first line', ['---', '# One'], 'yy'],
  ['front matter that is no first line', ['', '---', '# One', '---'], 'yyyy'],
])('%s', (_, lines, prose) => {
  expect(
    proseLines(lines)
      .map((each) => (each ? 'y' : '.'))
      .join(''),
  ).toBe(prose)
})

it('says something of every line', () => {
  const line = fc.constantFrom('---', '```', '~~~', '<!--', '-->', '## a', 'text', '')
  fc.assert(fc.property(fc.array(line), (lines) => proseLines(lines).length === lines.length))
})
