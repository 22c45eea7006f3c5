import { isJsonObject, type MemoryScope, memoryScopes, queryTerms, wordsOf } from '@recall/core'
import type { LocatedHit } from '@recall/store-file'
import { exitCodes, UsageError } from '../exit-codes.ts'
import type { RootOptions } from '../find-root.ts'
import { paint } from '../format.ts'
import type { Io } from '../io.ts'
import { withStore } from '../with-store.ts'

export interface SearchCommandOptions extends RootOptions {
  json?: boolean
  ranked?: boolean
  context: number
  scope?: MemoryScope
  limit: number
  explain?: boolean
}

interface Result {
  scope: MemoryScope
  key: string
  path: string
  line: number
  score: number
  title: string
  date: string
  snippet: string
  neighbours: string[]
  signals?: Record<string, number>
}

/** Finds matches and shows the line of each. Exit code 1 when there is none. */
export async function search(io: Io, query: string, options: SearchCommandOptions): Promise<number> {
  if (query.trim() === '') throw new UsageError('what should be searched for?')
  if (options.limit === 0) throw new UsageError('--limit takes at least 1')
  const started = process.hrtime.bigint()
  return withStore(io, options, (store) => {
    const terms = new Set(queryTerms(query))
    const found = store.locate(
      {
        namespace: 'default',
        text: query,
        limit: options.limit,
        offset: 0,
        sortBy: 'relevance',
        sortOrder: 'desc',
        minScore: 0,
        now: io.now(),
      },
      options.scope ? [options.scope] : memoryScopes,
    )
    const best = found.sort((a, b) => b.score - a.score).slice(0, options.limit)
    const ordered = options.ranked
      ? best
      : best.sort((a, b) => a.path.localeCompare(b.path, 'en', { numeric: true }) || a.line - b.line)
    const results = ordered.map((hit) => toResult(hit, terms, options))
    const tookMs = Number((process.hrtime.bigint() - started) / 100_000n) / 10
    if (options.json) io.out(`${JSON.stringify({ query, mode: 'lexical', tookMs, results })}\n`)
    else io.out(render(io, results, terms, options, tookMs))
    return results.length > 0 ? exitCodes.fine : exitCodes.no
  })
}

function toResult(hit: LocatedHit, terms: ReadonlySet<string>, options: SearchCommandOptions): Result {
  const lines = hit.text.split('\n')
  const best = bestLine(lines, terms)
  const from = Math.max(0, best - options.context)
  return {
    scope: hit.scope,
    key: hit.key,
    path: hit.path,
    line: hit.line + best,
    score: Math.round(hit.score * 1000) / 1000,
    title: titleOf(hit),
    date: new Date(hit.updated).toISOString(),
    snippet: lines.slice(from, best + options.context + 1).join('\n'),
    neighbours: hit.neighbours ?? [],
    ...(options.explain ? { signals: hit.signals } : {}),
  }
}

/** The line with most of the query's words; the first of equals. */
function bestLine(lines: string[], terms: ReadonlySet<string>): number {
  let best = 0
  let most = -1
  lines.forEach((line, i) => {
    const found = new Set(wordsOf(line).flatMap(({ term }) => (terms.has(term) ? [term] : [])))
    if (found.size > most) {
      best = i
      most = found.size
    }
  })
  return best
}

function titleOf({ type, fields, key, text }: LocatedHit): string {
  if (type === 'conversation' && isJsonObject(fields)) {
    const topics = Array.isArray(fields.topics) ? fields.topics.join(', ') : ''
    return topics === '' ? key : topics
  }
  return /^#{1,3} +(.+)$/m.exec(text)?.[1] ?? key
}

const longestSnippet = 300

function render(
  io: Io,
  results: Result[],
  terms: ReadonlySet<string>,
  options: SearchCommandOptions,
  tookMs: number,
): string {
  const colour = paint(io)
  if (results.length === 0) return 'Nothing found.\n'
  const blocks = results.map((result) => {
    const place = `${colour.magenta(result.path)}:${colour.green(String(result.line))}`
    const rank = options.ranked
      ? `  ${colour.bold(result.score.toFixed(2))}  ${colour.dim(`${result.date.slice(0, 10)}  ${result.title}`)}`
      : ''
    const why = result.signals
      ? `\n  ${colour.dim(
          Object.entries(result.signals)
            .map(([name, share]) => `${name} ${share.toFixed(3)}`)
            .join(' · '),
        )}`
      : ''
    return `${place}${rank}${why}\n${indent(highlight(io, clip(result.snippet, options.context), terms))}`
  })
  const talk = colour.dim(`${results.length} found in ${tookMs} ms`)
  return `${blocks.join('\n')}\n${io.terminal ? `${talk}\n` : ''}`
}

const clip = (text: string, context: number): string =>
  context > 0 || text.length <= longestSnippet ? text : `${text.slice(0, longestSnippet)}…`

const indent = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')

/** Control characters in stored text must not steer the terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

function highlight(io: Io, text: string, terms: ReadonlySet<string>): string {
  const clean = text.replace(controls, '')
  if (!io.terminal) return clean
  const colour = paint(io)
  let shown = ''
  let at = 0
  for (const { term, start, end } of wordsOf(clean)) {
    if (!terms.has(term)) continue
    shown += clean.slice(at, start) + colour.bold(colour.red(clean.slice(start, end)))
    at = end
  }
  return shown + clean.slice(at)
}
