import { styleText } from 'node:util'
import type { Io } from './io.ts'

const styles = ['bold', 'dim', 'red', 'green', 'yellow', 'magenta', 'cyan'] as const

/** Colours for a terminal; plain text for a pipe or with NO_COLOR. */
export function paint(io: Io): Record<(typeof styles)[number], (text: string) => string> {
  const isColoured = io.isTerminal && !io.env.NO_COLOR
  const painter = (style: (typeof styles)[number]) => (text: string) =>
    isColoured ? styleText(style, text) : text
  return Object.fromEntries(styles.map((style) => [style, painter(style)])) as ReturnType<typeof paint>
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** `40 ms`, `2.5 s`. */
export const formatMs = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`

/** `1 session`, `2 sessions`. */
export const count = (n: number, noun: string, plural = `${noun}s`): string =>
  `${n} ${n === 1 ? noun : plural}`

/** The text, cut to this many columns. */
export const short = (text: string, columns: number): string =>
  text.length <= columns
    ? text
    : `${[...text]
        .slice(0, columns - 1)
        .join('')
        .trimEnd()}…`

/** What a reader skipped, by kind: `6 × line that is not a message`. */
export const formatSkipped = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([kind, n]) => `${n} × ${kind}`)
    .join(', ')

/** `{ github: 1, jwt: 2 }` as `1 github, 2 jwt`. */
export const formatCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([kind, n]) => `${n} ${kind}`)
    .join(', ')

/**
 * Quotes a path for a shell. `cmd` treats single quotes as part of the name; a name there cannot contain double ones.
 */
export function quoted(path: string, platform = process.platform): string {
  if (platform === 'win32') return /^[\w.\\/:+-]+$/.test(path) ? path : `"${path}"`
  return /^[\w./:@%+,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** How much each signal adds to a rank. */
export const formatSignals = (signals: Readonly<Record<string, number>>): string =>
  Object.entries(signals)
    .map(([name, share]) => `${name} ${share.toFixed(3)}`)
    .join(' · ')
