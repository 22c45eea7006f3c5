import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { setsOf } from './sets-of.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recall-quality-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const file = (name: string, below = '.'): string => {
  const docs = [{ id: 'd', text: 'body' }]
  const queries = [{ id: 'q', text: 'what', gold: ['d'] }]
  const path = join(folder, below, name)
  mkdirSync(join(folder, below), { recursive: true })
  writeFileSync(path, JSON.stringify({ collections: [{ id: 'c', docs, queries }] }))
  return path
}
const options = { facts: false, together: false, stores: false }

it('reads every data set, or all as one', () => {
  const data = `${file('one.json')},${file('two.json')}`
  expect(setsOf({ ...options, data }).map(({ set }) => set.name)).toEqual(['one', 'two'])
  const [one, ...others] = setsOf({ ...options, data, together: true })
  expect(one?.source).toMatch(/^one, sha256 \w{16}; two, sha256 \w{16}$/)
  expect(others).toEqual([])
})

it('refuses sets whose results would replace each other', () => {
  const [one, other] = [file('set.json', 'a'), file('set.json', 'b')]
  for (const together of [false, true])
    expect(() => setsOf({ ...options, data: `${one},${other}`, together })).toThrow(
      `${one} and ${other} have one name, and would both be quality-set.md`,
    )
  expect(() => setsOf({ ...options, data: `${file('a b.json')},${file('a-b.json')}` })).toThrow('one name')
})

it('refuses a path without a name', () => {
  expect(() => setsOf({ ...options, data: `${file('set.json')},` })).toThrow('one has no name')
})
