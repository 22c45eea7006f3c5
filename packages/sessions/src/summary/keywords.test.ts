import { expect, it } from 'vitest'
import { createKeywordCounter } from './keywords.ts'

function topOf(...texts: [string, number][]) {
  const counter = createKeywordCounter()
  for (const [text, weight] of texts) counter.add(text, weight)
  return counter.top(5)
}

it('names the words that weigh most, without stop words, ids and chance words', () => {
  expect(topOf(['please fix the middleware because the middleware and auth break', 3])).toEqual([
    'middleware',
    'break',
    'auth',
  ])
  expect(topOf(['once', 1])).toEqual([])
  expect(topOf(['commit 258c7280ae70 deadbeef feed-beef build_2026_11_27_xyz', 3])).toEqual(['commit'])
  expect(topOf(['decaffeinated utf8 x-ray__', 3])).toEqual(['decaffeinated', 'x-ray', 'utf8'])
})

it('lets tool targets and the person outweigh the assistant', () => {
  expect(topOf(['kettle kettle', 1], ['src/pool.ts', 2], ['leak', 3]).slice(0, 2)).toEqual(['leak', 'kettle'])
  expect(topOf(['pool pool', 2], ['noise noise noise', 1])).toEqual(['pool', 'noise'])
})

it('counts the forms of a word together, and names the one that weighs most', () => {
  expect(topOf(['pool pools leaks', 1], ['leak kettle', 1], ['pools', 2], ['leaking', 3])).toEqual([
    'leaking',
    'pools',
  ])
  expect(topOf(['spoon spoons', 1])).toEqual(['spoons'])
})

it('reads scripts with accents and scripts without spaces', () => {
  expect(topOf(['résumé müller résumé', 3])).toEqual(['résumé', 'müller'])
  expect(topOf(['数据库 迁移 数据库', 3])).toEqual(expect.arrayContaining(['数据', '迁移']))
})

it('leaves out what stands where secrets were', () => {
  const counter = createKeywordCounter()
  for (let i = 0; i < 5; i++) counter.add('the bucket [redacted:aws-key-id] and the walrus', 1)
  expect(counter.top(5).sort()).toEqual(['bucket', 'walrus'])
})

it('leaves out the words of other languages that say nothing', () => {
  expect(topOf(['Mach mir bitte einen Plan für meine Abgabe', 3])).toEqual(['abgabe', 'plan'])
  expect(topOf(['Pourquoi les tuiles sont bleues', 3])).toEqual(['bleues', 'tuiles'])
  expect(topOf(['porque está roto el tejado', 3])).toEqual(['tejado', 'roto'])
})
