import { expect, it } from 'vitest'
import { tokenizer } from '../../test/index-of-texts.ts'

it('tells under which term FTS5 files each word, and which it takes for several or none', () => {
  expect(tokenizer.termsOf(['Running', 'quickly', 'naïve', 'λόγος', 'two-words', '—', 'running'])).toEqual([
    'run',
    'quickli',
    'naiv',
    'λόγοσ',
    null,
    null,
    'run',
  ])
  expect(tokenizer.termsOf([])).toEqual([])
  expect(tokenizer.termsOf(['again'])).toEqual(['again'])
})

it('opens its database again when it was closed', () => {
  tokenizer.close()
  expect(tokenizer.termsOf(['runs'])).toEqual(['run'])
})
