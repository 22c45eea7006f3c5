import { expect, it } from 'vitest'
import { growthCurves, growthReport } from './growth-report.ts'

const pointAt = (size: number) => ({
  size,
  searchMs: 1,
  coldSearchMs: 50,
  putMs: 0.5,
  rebuildMs: size,
  rebuildMb: 60,
  searchMb: 55,
  indexMb: 1,
  textMb: 1,
  unchangedMs: 1,
})

it('shows by what power of the size each measure grows', () => {
  const points = [100, 1000].map(pointAt)
  expect(growthReport({ points, leftOut: [] }, {})).toContain(
    '| rebuild of the index, ms | 100 | 1000 | 1.00 |',
  )
  expect(growthCurves(points)).toContain('rebuild of the index, ms: 1.00<')
})

it('shows no power where one size tells none', () => {
  const points = [pointAt(50)]
  const page = growthReport({ points, leftOut: [] }, {})
  expect(page).toContain('| rebuild of the index, ms | 50.0 |  |')
  expect(page + growthCurves(points)).not.toContain('NaN')
  expect(growthCurves(points)).toContain('>rebuild of the index, ms<')
})
