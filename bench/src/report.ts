import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** One measured ratio, next to the bound that we hold ourselves to. */
export interface Row {
  what: string
  size: number
  /** In the unit that `what` names. */
  ours: number
  peer: string
  peers: number
  ratio: number
  /** The ratio should be at most this (`atLeast`: at least). */
  bound?: number
  atLeast?: boolean
}

/** What a suite writes next to its page, for other programs. */
export interface SuiteResult {
  suite: string
  machine: Record<string, string | number>
  settings: Record<string, unknown>
  rows: Row[]
}

export const results = fileURLToPath(new URL('../results', import.meta.url))

export const holds = ({ ratio, bound, atLeast }: Row): boolean =>
  bound === undefined || (atLeast ? ratio >= bound : ratio <= bound)

/** Writes a file next to the other results; returns its path. */
export function writeResult(name: string, content: string): string {
  mkdirSync(results, { recursive: true })
  const path = join(results, name)
  writeFileSync(path, content)
  return path
}

/** The machine that the figures are measured on, at the time of writing. */
export function machineFacts(): Record<string, string | number> {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    os: `${process.platform} ${release()}`,
    node: process.version,
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: results }).toString().trim(),
    date: new Date().toISOString().slice(0, 10),
    'load average over 1, 5 and 15 minutes': loadavg()
      .map((load) => load.toFixed(1))
      .join(', '),
  }
}

/** Writes the rows as JSON and as a table, with everything a sceptic needs to run them again. */
export function writeReport(suite: string, rows: readonly Row[], settings: Record<string, unknown>): string {
  const machine = machineFacts()
  writeData(suite, rows, settings, {}, machine)
  return writeResult(`${suite}.md`, toMarkdown(suite, rows, { ...machine, ...settings }))
}

/** The JSON of a suite that writes its own page. */
export function writeData(
  suite: string,
  rows: readonly Row[],
  settings: Record<string, unknown>,
  more: Record<string, unknown>,
  machine = machineFacts(),
): void {
  writeResult(`${suite}.json`, `${JSON.stringify({ suite, machine, settings, rows, ...more }, null, 2)}\n`)
}

const toMarkdown = (
  suite: string,
  rows: readonly Row[],
  facts: Record<string, unknown>,
): string => `# ${suite}

${factLines(facts)}

Ratios are medians of rounds measured in turn on one machine; only they can be compared with another machine's.

${rowTable(rows)}
`

export const factLines = (facts: Record<string, unknown>): string =>
  Object.entries(facts)
    .map(([name, value]) => `- ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n')

export function rowTable(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const verdict = row.bound === undefined ? '' : holds(row) ? 'yes' : '**no**'
    return `| ${row.what} | ${row.size.toLocaleString('en')} | ${showFigure(row.ours)} | ${row.peer} | ${showFigure(row.peers)} | ${row.ratio.toFixed(2)} | ${showBound(row)} | ${verdict} |`
  })
  return `| what | size | ours | peer | peer's | ratio | bound | holds |
|---|---|---|---|---|---|---|---|
${lines.join('\n')}`
}

export const showBound = ({ bound, atLeast }: Row): string =>
  bound === undefined ? '' : `${atLeast ? '≥' : '≤'} ${bound}`

export const showFigure = (figure: number): string =>
  figure >= 100 ? figure.toFixed(0) : figure >= 10 ? figure.toFixed(1) : figure.toFixed(3)

/** Columns that hold only figures are right-aligned. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const isFigures = (column: number): boolean =>
    rows.every((cells) => /^([-–≤≥ \d.,]+ ?%?|)$/.test(cells[column] ?? ''))
  return [line(head), line(head.map((_, i) => (isFigures(i) ? '---:' : '---'))), ...rows.map(line)].join('\n')
}
