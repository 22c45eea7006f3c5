import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { themes } from '../src/conformance/themes.ts'

const contract = readFileSync(new URL('../../../docs/contract.md', import.meta.url), 'utf8')

it('docs/contract.md and the conformance suite hold the same laws in the same order', () => {
  const headings = [...contract.matchAll(/^## (\d+\. .+)$/gm)].map(([, heading]) => heading)
  expect(headings).toEqual(themes.map(({ title }, i) => `${i + 1}. ${title}`))
  const written = [...contract.matchAll(/^- \*\*(\d+\.\d+)\*\* (.+)$/gm)].map(
    ([, number, law]) => `${number} ${law}`,
  )
  expect(written).toEqual(
    themes.flatMap(({ laws }, i) => laws.map(({ title }, j) => `${i + 1}.${j + 1} ${title}`)),
  )
})

it('every law is one sentence of its own', () => {
  const titles = themes.flatMap(({ laws }) => laws.map(({ title }) => title))
  expect(new Set(titles).size).toBe(titles.length)
  for (const title of titles) expect(title).toMatch(/^\S.*\.$/)
})
