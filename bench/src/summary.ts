import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suites } from './all-suites.ts'
import { exponents, measures } from './growth-report.ts'
import { qualityRows } from './quality/quality-rows.ts'
import { reasonFor } from './reasons.ts'
import {
  holds,
  type Row,
  results,
  type SuiteResult,
  showBound,
  showFigure,
  table,
  writeResult,
} from './report.ts'
import type { GrowthPoint } from './suites/growth.ts'

/** Writes one page on everything that was measured last; returns its path. */
export function publishSummary(): string {
  return writeResult('README.md', summaryOf(readResults(), readdirSync(results)))
}

type Published = Omit<SuiteResult, 'settings'> & { points?: GrowthPoint[] }

function readResults(): Published[] {
  const read = <Result>(name: string): Result =>
    JSON.parse(readFileSync(join(results, name), 'utf8')) as Result
  const names = readdirSync(results).filter((name) => name.endsWith('.json'))
  const ofSuites = Object.keys(suites).filter((suite) => names.includes(`${suite}.json`))
  const ofSets = names.filter((name) => name.startsWith('quality-'))
  return [
    ...ofSuites
      .map((suite) => read<Partial<Published>>(`${suite}.json`))
      // A page of an earlier version has no rows.
      .filter((result): result is Published => Array.isArray(result.rows)),
    ...ofSets.map((name): Published => {
      const { facts, results: measured } = read<QualityFile>(name)
      const suite = name.replace('.json', '')
      return { suite, machine: facts, rows: qualityRows(suite.replace('quality-', ''), measured) }
    }),
  ]
}

interface QualityFile {
  facts: Record<string, string | number>
  results: Parameters<typeof qualityRows>[1]
}

/** What was measured, where each bound stands, and which do not hold, by how much and why. */
export function summaryOf(published: readonly Published[], files: readonly string[]): string {
  const bounded = published.flatMap(({ suite, rows }) =>
    rows.filter(({ bound }) => bound !== undefined).map((row) => ({ suite, row })),
  )
  const missed = bounded.filter(({ row }) => !holds(row))
  const growth = published.find(({ suite }) => suite === 'growth')?.points ?? []
  const charts = files.filter((file) => file.endsWith('.svg')).sort()
  const others = files
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .filter((file) => !published.some(({ suite }) => file === `${suite}.md`))
    .sort()
    .map((file) => `[${file.replace(/\.md$/, '')}](./${file})`)
  return `# What was measured

\`pnpm bench all\` measures this again; \`pnpm bench\` says what else there is. Figures in milliseconds are those of one machine: compare the ratios, each between two things measured in turn. The load average of each page says what else the machine was doing.

**${bounded.length - missed.length} of ${bounded.length} bounds hold.**

${table(
  ['suite', 'measures', 'bounds', 'hold', 'commit', 'load average'],
  published.map(({ suite, rows, machine }) => {
    const own = rows.filter(({ bound }) => bound !== undefined)
    return [
      `[${suite}](./${suite}.md)`,
      suites[suite]?.summary ?? 'what is found in one data set',
      String(own.length),
      String(own.filter(holds).length),
      String(machine.commit),
      String(machine['load average over 1, 5 and 15 minutes'] ?? 'not noted'),
    ]
  }),
)}

${others.length > 0 ? `Other pages: ${others.join(', ')}.\n` : ''}
## What does not hold

${missed.length === 0 ? 'All of them hold.' : missedTable(missed)}

${growth.length > 1 ? growthSection(growth) : ''}## Charts

${charts.map((file) => `![${file.replace(/\.svg$/, '')}](./${file})`).join('\n\n')}

## Where each bound stands

${table(
  ['suite', 'what', 'size', 'ratio', 'bound', 'holds'],
  bounded.map(({ suite, row }) => [
    suite,
    `${row.what} (${row.peer})`,
    row.size.toLocaleString('en'),
    row.ratio.toFixed(2),
    showBound(row),
    holds(row) ? 'yes' : '**no**',
  ]),
)}
`
}

/** The reasons are listed below the table, each once. */
function missedTable(missed: readonly { suite: string; row: Row }[]): string {
  const reasons = [...new Set(missed.map(({ suite, row }) => reasonFor(suite, row)))].filter(
    (reason) => reason !== undefined,
  )
  const numberOf = (reason: string | undefined): string =>
    reason === undefined ? 'not looked into yet' : `see ${reasons.indexOf(reason) + 1}`
  const rows = missed.map(({ suite, row }) => [
    `${suite}: ${row.what}`,
    row.size.toLocaleString('en'),
    showFigure(row.ours),
    `${row.peer} ${showFigure(row.peers)}`,
    row.ratio.toFixed(2),
    showBound(row),
    missedBy(row),
    numberOf(reasonFor(suite, row)),
  ])
  const head = ['what', 'size', 'ours', 'beside', 'ratio', 'bound', 'missed by', 'why']
  return [table(head, rows), ...reasons.map((reason, i) => `${i + 1}. ${reason}.`)].join('\n\n')
}

/** By what share of the bound it is missed; if the bound is 0, the figure itself. */
function missedBy({ ratio, bound = 0, atLeast }: Row): string {
  if (bound === 0 || ratio === 0) return showFigure(Math.abs(ratio - bound))
  const percent = ((atLeast ? bound / ratio : ratio / bound) - 1) * 100
  return `${percent >= 10 ? percent.toFixed(0) : percent.toPrecision(2)} %`
}

const growthSection = (points: readonly GrowthPoint[]): string => `## How it grows

From ${points[0]?.size.toLocaleString('en')} to ${points.at(-1)?.size.toLocaleString('en')} memories, by what power of their number (0: not at all, 1: in proportion):

${exponents(points)
  .map(([measure, exponent]) => `- ${measures[measure]}: ${exponent.toFixed(2)}`)
  .join('\n')}

`
