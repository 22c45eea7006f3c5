import { expect, it } from 'vitest'
import { parseOptions, UsageError } from '../options.ts'
import { factsOf, leavesOneOut, publishQuality, runtimeOf } from './quality.ts'

it('refuses a runtime that there is not', () => {
  expect(runtimeOf({})).toBeUndefined()
  expect(runtimeOf({ runtime: 'wasm' })).toBe('wasm')
  expect(() => runtimeOf({ runtime: 'wams' })).toThrow('--runtime is "native" or "wasm", not "wams"')
})

it('refuses to leave one out of what is one memory', async () => {
  const { values } = parseOptions([])
  const options = { ...values, data: 'absent', together: true, 'leave-one-out': true }
  await expect(publishQuality(options)).rejects.toThrow(UsageError)
  await expect(publishQuality(options)).rejects.toThrow('--together makes one of them')
})

it('publishes what the figures depend on', () => {
  const set = { name: 'set', collections: [] }
  const options = { facts: true, together: true, ablation: true, stores: false }
  expect(factsOf({ ...set, missingGold: 1200 }, options, 'wasm')).toEqual({
    options: '--facts --together --ablation',
    runtime: 'wasm',
    'left out': 'evidence that is not a document: 1,200',
  })
  const none = { facts: false, together: false, ablation: false, stores: false }
  expect(factsOf(set, none, 'native')).toEqual({ runtime: 'native' })
})

it('leaves one collection out only where there are others, and says so', () => {
  const said: string[] = []
  const collection = { id: 'c', docs: [], queries: [] }
  const leaves = (count: number): boolean => {
    const set = { name: 'set', collections: Array.from({ length: count }, () => collection) }
    return leavesOneOut(set, { 'leave-one-out': true, stores: false }, (text) => said.push(text))
  }
  expect(leaves(2)).toBe(true)
  expect(said).toEqual([])
  expect(leaves(1)).toBe(false)
  expect(said).toEqual([expect.stringContaining('but one collection')])
})
