import { expect, it } from 'vitest'
import { formatFor } from '../src/terminal/progress.ts'

it('fits a narrow terminal', () => {
  expect(formatFor('embedding', 80)).toContain('{bar}')
  const line = formatFor('embedding', 40)
    .replace('{percentage}', '100')
    .replace(/\{(?:value|total)\}/g, '100000')
  expect(line).toBe('embedding 100% · 100000 of 100000')
})
