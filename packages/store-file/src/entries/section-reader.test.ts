import { expect, it, vi } from 'vitest'
import { sectionEntries } from '../documents/sections.ts'
import { createSectionReader } from './section-reader.ts'

const stamp = { size: 0, modified: 5, changed: 5, inode: 1 }

it('splits a file once for all of its sections, and anew when it says something else', () => {
  const parse = vi.fn(sectionEntries)
  const read = createSectionReader(parse)
  const file = { content: '## A\n\none\n\n## B\n\ntwo\n', stamp }
  expect(read('/m/big.md', file, 'big.md#a')?.value).toBe('one')
  expect(read('/m/big.md', { ...file }, 'big.md#b')?.value).toBe('two')
  expect(read('/m/big.md', file, 'big.md#c')).toBeNull()
  read('/m/big.md', file, 'big.md#a')?.tags.push('mine')
  expect(read('/m/big.md', file, 'big.md#a')?.tags).toEqual([])
  expect(parse).toHaveBeenCalledTimes(1)

  // As long as before, and written within the same tick of the clock.
  const edited = { content: file.content.replace('two', 'six'), stamp }
  expect(read('/m/big.md', edited, 'big.md#b')?.value).toBe('six')
  const touched = { ...edited, stamp: { ...stamp, modified: 9 } }
  expect(read('/m/big.md', touched, 'big.md#b')?.updated).toBe(9)
  expect(read('/m/small.md', touched, 'small.md#b')?.key).toBe('small.md#b')
  expect(parse).toHaveBeenCalledTimes(4)
})
