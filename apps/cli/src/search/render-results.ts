import { excerptOf, type Word, wordsOf } from '@recall/core/ranking'
import { formatSignals, paint } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'
import type { Result } from './results.ts'

const longestSnippet = 300

/** The results of a search as text for a person. */
export function renderResults(
  io: Io,
  results: readonly Result[],
  terms: ReadonlySet<string>,
  options: { ranked?: boolean; context: number },
  tookMs: number,
): string {
  const colour = paint(io)
  if (results.length === 0) return 'Nothing found.\n'
  const blocks = results.map((result) => {
    const place = `${colour.magenta(printable(result.path))}:${colour.green(String(result.line))}`
    const rank = options.ranked
      ? `  ${colour.bold(result.confidence.toFixed(2))}  ${colour.dim(`${result.date.slice(0, 10)}  ${printable(result.title)}`)}`
      : ''
    const snippet = options.context > 0 ? result.snippet : excerptOf(result.snippet, terms, longestSnippet)
    const why = result.signals ? `\n  ${colour.dim(explain(result.score, result.signals))}` : ''
    return `${place}${rank}${why}\n${indent(highlight(io, snippet, terms))}`
  })
  const talk = colour.dim(`${results.length} found in ${tookMs} ms`)
  return `${blocks.join('\n')}\n${io.isTerminal ? `${talk}\n` : ''}`
}

/** The score comes before its parts, because the figure next to the place is the confidence. */
const explain = (score: number, signals: Record<string, number>): string =>
  `score ${score.toFixed(3)}: ${formatSignals(signals)}`

const indent = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')

function highlight(io: Io, text: string, terms: ReadonlySet<string>): string {
  const clean = printable(text)
  if (!io.isTerminal) return clean
  const colour = paint(io)
  let shown = ''
  let at = 0
  for (const [start, end] of wordsOf(clean).flatMap((word) => matchesIn(clean, word, terms))) {
    shown += clean.slice(at, start) + colour.bold(colour.red(clean.slice(start, end)))
    at = end
  }
  return shown + clean.slice(at)
}

/** The ranges of a word that match: all of it, or the terms in a sentence without spaces. */
function matchesIn(text: string, { term, start, end }: Word, terms: ReadonlySet<string>): [number, number][] {
  if (terms.has(term)) return [[start, end]]
  const found: [number, number][] = []
  for (let at = start; at < end; at++) {
    const [length = 0] = [...terms]
      .filter((each) => beyondLatin.test(each) && text.startsWith(each, at))
      .map((each) => each.length)
      .sort((a, b) => b - a)
    const last = found.at(-1)
    if (length === 0) continue
    if (last && last[1] >= at) last[1] = Math.max(last[1], at + length)
    else found.push([at, at + length])
  }
  return found
}

/** Scripts without spaces all begin above this code point. */
const beyondLatin = /[\u0E00-\uFFFF]/
