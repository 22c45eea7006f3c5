import { growthChart } from './charts.ts'
import { factLines, showFigure, table } from './report.ts'
import { growthExponent } from './statistics.ts'
import type { GrowthPoint, GrowthResult } from './suites/growth.ts'

type Measure = Exclude<keyof GrowthPoint, 'size'>

export const measures: Record<Measure, string> = {
  searchMs: 'search in an open memory, p50, ms',
  coldSearchMs: '`recall search` as a whole process, ms',
  putMs: 'durable put, ms',
  unchangedMs: 'finding that no file changed, ms',
  rebuildMs: 'rebuild of the index, ms',
  rebuildMb: 'peak memory of a rebuild, MB',
  searchMb: 'peak memory of `recall search`, MB',
  indexMb: 'index, MB',
  textMb: 'texts, MB',
}

/** Exponent of each measure over the sizes. */
export const exponents = (points: readonly GrowthPoint[]): [Measure, number][] =>
  (Object.keys(measures) as Measure[]).map((measure) => [
    measure,
    growthExponent(points.map((point) => ({ x: point.size, y: point[measure] }))),
  ])

/** Empty if too few sizes were measured. */
const showExponent = (exponent: number): string => (Number.isNaN(exponent) ? '' : exponent.toFixed(2))

/** A row for each measure, a column for each size, and the power of the size by which it grows. */
export function growthReport({ points, leftOut }: GrowthResult, facts: Record<string, unknown>): string {
  const rows = exponents(points).map(([measure, exponent]) => [
    measures[measure],
    ...points.map((point) => showFigure(point[measure])),
    showExponent(exponent),
  ])
  return `# growth

${factLines(facts)}

The file store with ever more memories, words alone. The exponent k is that of the power law y = c · size^k fitted by least squares in the logarithms: 0 is independent of the size, 1 in proportion to it.

${table(['', ...points.map(({ size }) => size.toLocaleString('en')), 'exponent'], rows)}

![each measure over the number of memories](./growth.svg)
${leftOut.length > 0 ? `\nNot measured: ${leftOut.join('; ')}.\n` : ''}`
}

export const growthCurves = (points: readonly GrowthPoint[]): string =>
  growthChart(
    'what the file store costs over the number of memories',
    exponents(points)
      .filter(([measure]) =>
        ['searchMs', 'coldSearchMs', 'putMs', 'unchangedMs', 'rebuildMs', 'rebuildMb'].includes(measure),
      )
      .map(([measure, exponent]) => ({
        name: [measures[measure].replaceAll('`', ''), showExponent(exponent)].filter(Boolean).join(': '),
        points: points.map((point) => ({ x: point.size, y: point[measure] })),
      })),
  )
