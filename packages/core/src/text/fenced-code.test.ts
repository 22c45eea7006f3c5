import { describe, expect, it } from 'vitest'
import { closingFences, trackFence } from './fenced-code.ts'

/** Two letters of the part that each line is; dots stand for none. */
const partsOf = (...lines: string[]): string => {
  const partOf = trackFence()
  return lines.map((line) => partOf(line)?.slice(0, 2) ?? '..').join(' ')
}

describe('a fenced code block', () => {
  it.each([
    ['ends at the same mark', ['text', '```js', 'code', '```', 'text'], '.. op co cl ..'],
    ['ends at a longer mark', ['```', '`````', 'text'], 'op cl ..'],
    ['holds a shorter one', ['````md', '```js', '```', '````', 'text'], 'op co co cl ..'],
    ['does not end at a fence with a language', ['```md', '```js', '```', 'text'], 'op co cl ..'],
    ['does not end at another mark', ['~~~', '```', '~~~'], 'op co cl'],
    ['may be indented by three spaces', ['   ```', '    ```', '  ```'], 'op co cl'],
    ['does not begin with four', ['    ```', 'text'], '.. ..'],
    ['ends with white space and any line end', ['```\r\n', '```  \t\r\n', 'text'], 'op cl ..'],
    ['does not begin with code in a sentence', ['```x``` is code', 'text'], '.. ..'],
    ['may name what it likes between tildes', ['~~~ `x`', '~~~'], 'op cl'],
    ['may begin on the line of a list item', ['- ```sh', '  make', '  ```', 'text'], 'op co cl ..'],
    ['may begin in a numbered one', ['10. ~~~', '    make', '    ~~~', 'text'], 'op co cl ..'],
    ['may begin in a list within a list', ['  - 1. ```', '       x', '       ```', 'x'], 'op co cl ..'],
    ['ends with the list item in which it stands', ['- ```', '  x', '', '## A', '```'], 'op co co .. op'],
    ['ends with the item where the next one begins', ['- ```', '  x', '- ```', '  ```'], 'op co op cl'],
    ['holds code that is indented less than its item', ['- ```', 'x', '# y', '```', 'z'], 'op co co cl ..'],
    ['ends at a fence that is indented less than its item', ['- ```', '  x', '```', '# A'], 'op co cl ..'],
    ['holds what is indented with tabs', ['- ```', '\tx', '\ty', '  ```'], 'op co co cl'],
    ['does not end at a fence within its code', ['- ```md', '      ```', '  ```'], 'op co cl'],
  ])('%s', (_, lines, parts) => {
    expect(partsOf(...lines)).toBe(parts)
  })
})

it('finds where a code block is closed, if it is', () => {
  const closingOf = closingFences(['```', '~~~', '```', '~~~~js', '````', 'text', '```'])
  expect([0, 1, 2, 3, 4, 5, 6].map(closingOf)).toEqual([2, null, 4, null, null, null, null])
})

it('finds no end of a code block that ends with its list item', () => {
  expect([0, 2].map(closingFences(['- ```', '  x', 'text', '```', '```']))).toEqual([null, null])
  expect(closingFences(['- ```', '  ---', '  ```'])(0)).toBe(2)
})

it('looks for the end of many unclosed code blocks at once', () => {
  const lines = Array.from({ length: 100_000 }, (_, i) => (i % 2 === 0 ? '```js' : '~~~~ js'))
  const closingOf = closingFences(lines)
  expect(lines.some((_, i) => closingOf(i) !== null)).toBe(false)
})
