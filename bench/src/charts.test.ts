import { expect, it } from 'vitest'
import { barChart, growthChart } from './charts.ts'

it('draws a power of the size as a straight line', () => {
  const points = [1e3, 1e4, 1e5].map((x) => ({ x, y: x ** 0.5 }))
  const chart = growthChart('growth', [{ name: 'search', points }])
  const drawn = /polyline points="([^"]+)"/.exec(chart)?.[1]?.split(' ') ?? []
  const [a, b, c] = drawn.map((at) => at.split(',').map(Number)) as [number, number][]
  expect(drawn).toHaveLength(3)
  expect(b?.[0]).toBeCloseTo(((a?.[0] ?? 0) + (c?.[0] ?? 0)) / 2, 0)
  expect(b?.[1]).toBeCloseTo(((a?.[1] ?? 0) + (c?.[1] ?? 0)) / 2, 0)
})

it('puts the shortest bar first, and names nothing as markup', () => {
  const chart = barChart('p50', [
    { name: 'slow <b>', value: 100, shown: '100' },
    { name: 'quick', value: 1, shown: '1.0', isOurs: true },
  ])
  expect(chart.indexOf('quick')).toBeLessThan(chart.indexOf('slow'))
  expect(chart).toContain('slow &lt;b>')
})

it('shows a figure below one, of which the logarithm is negative', () => {
  const chart = barChart('p50', [{ name: 'fast', value: 0.04, shown: '0.040' }])
  expect(chart).not.toMatch(/NaN|width="-/)
})
