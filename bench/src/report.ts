import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** One measured ratio, beside the bound we hold ourselves to. */
export interface Row {
  what: string
  size: number
  /** In the unit that `what` names. */
  ours: number
  peer: string
  peers: number
  ratio: number
  /** The ratio is to be at most this (`atLeast`: at least). */
  bound?: number
  atLeast?: boolean
}

const results = fileURLToPath(new URL('../results', import.meta.url))

export const holds = ({ ratio, bound, atLeast }: Row): boolean =>
  bound === undefined || (atLeast ? ratio >= bound : ratio <= bound)

/** Writes a file beside the other results; returns its path. */
export function writeResult(name: string, content: string): string {
  mkdirSync(results, { recursive: true })
  const path = join(results, name)
  writeFileSync(path, content)
  return path
}

/** What the figures were measured on. */
export function machineFacts(): Record<string, string | number> {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    os: `${process.platform} ${release()}`,
    node: process.version,
    commit: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: results }).toString().trim(),
    date: new Date().toISOString().slice(0, 10),
  }
}

/** Writes the rows as JSON and as a table, with everything a sceptic needs to run them again. */
export function writeReport(suite: string, rows: readonly Row[], settings: Record<string, unknown>): string {
  const machine = machineFacts()
  writeResult(`${suite}.json`, `${JSON.stringify({ suite, machine, settings, rows }, null, 2)}\n`)
  return writeResult(`${suite}.md`, toMarkdown(suite, rows, { ...machine, ...settings }))
}

function toMarkdown(suite: string, rows: readonly Row[], facts: Record<string, unknown>): string {
  const lines = rows.map((row) => {
    const bound = row.bound === undefined ? '' : `${row.atLeast ? '≥' : '≤'} ${row.bound}`
    const verdict = row.bound === undefined ? '' : holds(row) ? 'yes' : '**no**'
    return `| ${row.what} | ${row.size.toLocaleString('en')} | ${show(row.ours)} | ${row.peer} | ${show(row.peers)} | ${row.ratio.toFixed(2)} | ${bound} | ${verdict} |`
  })
  return `# ${suite}

${Object.entries(facts)
  .map(([name, value]) => `- ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  .join('\n')}

Ratios are medians of rounds measured in turn on one machine; only they can be compared with another machine's.

| what | size | ours | peer | peer's | ratio | bound | holds |
|---|---|---|---|---|---|---|---|
${lines.join('\n')}
`
}

const show = (figure: number): string =>
  figure >= 100 ? figure.toFixed(0) : figure >= 10 ? figure.toFixed(1) : figure.toFixed(3)
