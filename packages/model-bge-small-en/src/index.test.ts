import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { bgeSmallEn } from './index.ts'

it.each(['weights', 'tokenizer'] as const)('has the published %s', (part) => {
  const { url, sha256 } = bgeSmallEn[part]
  expect(createHash('sha256').update(readFileSync(url)).digest('hex')).toBe(sha256)
})
