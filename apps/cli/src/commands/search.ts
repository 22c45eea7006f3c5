import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  compareCodePoints,
  countTermsIn,
  type Embedder,
  embedQuery,
  excerptOf,
  type MemoryScope,
  memoryScopes,
  newsFilter,
  queryTerms,
  spokenText,
  type Word,
  withoutRepeats,
  wordsOf,
} from '@recall/core'
import type { FileStore, LocatedHit, LocateQuery } from '@recall/store-file'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { matchingLines } from '../matching-lines.ts'
import { findRoot, type RootOptions } from '../memory/find-root.ts'
import { withStore } from '../memory/with-store.ts'
import { count, formatSignals, paint, short } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'
import { createRedaction, type Redaction } from '../terminal/redaction.ts'
import { titlesIn } from './titles.ts'

export interface SearchCommandOptions extends RootOptions {
  json?: boolean
  ranked?: boolean
  /** Search by words alone, even if the memory has vectors. */
  lexical?: boolean
  /** From 0 to 1; a ranked search with less confidence finds nothing. */
  minConfidence?: number
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
  confidence: number
  title: string
  date: string
  snippet: string
  neighbours: string[]
  signals?: Record<string, number>
}

/** Finds matches and shows the lines of each. Exit code 1 when there is none. */
export async function search(io: Io, query: string, options: SearchCommandOptions): Promise<number> {
  refuseMisuse(query, options)
  const started = process.hrtime.bigint()
  const embedder = await embedderFor(io, options)
  return withStore(io, { ...options, ...(embedder ? { embedder } : {}) }, async (store) => {
    const terms = new Set(queryTerms(query))
    const embedding = embedder && (await embedQuery(embedder, query))
    // Embed recent writes first, so that they are found by meaning, too.
    const left = embedding ? await store.embedRecent(io.now()) : 0
    // A session repeats in its summary what was said: such places are left out again.
    const wanted = options.ranked ? 2 * options.limit : options.limit
    const question: LocateQuery = {
      ...(embedding ? { embedding } : {}),
      namespace: 'default',
      text: query,
      // One more, to know whether there are more.
      limit: wanted + 1,
      ...(options.ranked ? { passages: options.limit + 1 } : {}),
      minScore: 0,
      now: io.now(),
    }
    const found = store.locate(question, options.scope ? [options.scope] : memoryScopes)
    const best = found.slice(0, wanted)
    // The confidence of the best match is that of the whole answer.
    const confidence = best[0]?.confidence ?? 0
    const shown = options.ranked && confidence < (options.minConfidence ?? 0) ? [] : best
    const next = shown.length > 0 ? found[wanted] : undefined
    const { redact, excerpt, tell } = createRedaction(io)
    const isTitled = options.ranked || options.json
    const telling = { ...options, excerpt, titleOf: isTitled ? titlesIn(store.root) : () => '' }
    const { results: places, more } = options.ranked
      ? placeByPlace({ best: shown, next }, terms, telling)
      : lineByLine(store, { best: shown, next }, terms, telling)
    const results = places.map((result) => ({
      ...result,
      title: short(redact(result.title), longestTitle),
      snippet: redact(result.snippet),
      neighbours: result.neighbours.map(redact),
    }))
    const tookMs = Number((process.hrtime.bigint() - started) / 100_000n) / 10
    if (options.json)
      io.out(
        `${JSON.stringify({
          query,
          mode: found[0]?.mode ?? (embedding ? 'hybrid' : 'lexical'),
          ...(options.ranked ? { confidence: rounded(confidence) } : {}),
          tookMs,
          results,
          ...(more ? { more } : {}),
          ...(left > 0 ? { withoutVectors: left } : {}),
        })}\n`,
      )
    else io.out(render(io, results, terms, options, tookMs))
    tell()
    if (more && !options.json) io.err(`recall: there is more: a higher --limit shows it\n`)
    if (left > 0 && !options.json)
      io.err(`recall: ${count(left, 'passage')} found by words alone so far: recall reindex --model\n`)
    return results.length > 0 ? exitCodes.fine : exitCodes.no
  })
}

function refuseMisuse(query: string, options: SearchCommandOptions): void {
  if (query.trim() === '') throw new UsageError('what should be searched for?')
  const ofRanked = { lexical: options.lexical, 'min-confidence': options.minConfidence }
  for (const [name, given] of Object.entries(ofRanked))
    if (given && !options.ranked) throw new UsageError(`--${name} is for --ranked`)
}

async function embedderFor(io: Io, options: SearchCommandOptions): Promise<Embedder | undefined> {
  if (!options.ranked || options.lexical) return undefined
  return (await import('../memory/embedder.ts')).embedderOf(io, findRoot(io, options))
}

/** How results are told. */
interface Telling extends SearchCommandOptions, Pick<Redaction, 'excerpt'> {
  /** Empty where no title is shown: files are read for it. */
  titleOf: (hit: LocatedHit) => string
}

interface Hits {
  best: readonly LocatedHit[]
  /** The best of those that were cut off. */
  next: LocatedHit | undefined
}

/** The best line of each place, best first, once where several tell the same; `more` if some were cut off. */
function placeByPlace(
  { best, next }: Hits,
  terms: ReadonlySet<string>,
  options: Telling,
): { results: Result[]; more: boolean } {
  const isNews = newsFilter()
  const results = withoutRepeats(best, (hit) => hit)
    .map((hit) => toResult(hit, terms, options))
    .filter(({ snippet, neighbours }) => isNews({ text: snippet, neighbours }))
  const more = results.length > options.limit || next !== undefined
  return { results: results.slice(0, options.limit), more }
}

/** The best line of a hit. */
function toResult(hit: LocatedHit, terms: ReadonlySet<string>, options: Telling): Result {
  const lines = hit.text.split('\n')
  // The heading of a speaker says nothing, although it holds a word that people search for.
  const counts = lines.map((line) => countTermsIn(spokenText(`${line}\n`), terms))
  const most = Math.max(...counts)
  // A hit by meaning may hold none of the words: then show the first line of prose.
  const best = Math.max(0, most > 0 ? counts.indexOf(most) : lines.findIndex((line) => /^[^#\s]/.test(line)))
  return {
    ...describe(hit, options),
    line: hit.line + best,
    snippet: around(lines, best, options),
    neighbours: hit.neighbours ?? [],
  }
}

/**
 * The matching lines of the files with the best hits, in the order of the files; `more` if some were cut off. Files whose
 * hits hold no more than half of the words that another's hold are left out.
 */
function lineByLine(
  { root, layout }: Pick<FileStore, 'root' | 'layout'>,
  { best, next }: Hits,
  terms: ReadonlySet<string>,
  options: Telling,
): { results: Result[]; more: boolean } {
  // Only those are made that are shown: in a long session, most lines may hold the words.
  const found: { words: number; held: number; results: (() => Result)[] }[] = []
  /** Files whose matching lines are all among the results. */
  const known = new Set<string>()
  for (const path of new Set(best.map((hit) => hit.path))) {
    const hits = best.filter((hit) => hit.path === path).sort((a, b) => a.line - b.line)
    const lines = readFileSync(join(root, path), 'utf8').split(/\r?\n/)
    // Curated files and the window have none: what stands between their first two rules is text.
    const mayHaveFrontMatter = dirname(path) !== layout.memory && path !== layout.window
    const { lines: matching, words } = matchingLines(lines, terms, mayHaveFrontMatter, options.limit + 1)
    const lineOf = (at: number) => (): Result => {
      // Several memories may share a file: a line belongs to the last one that begins at or before it.
      const owner = hits.findLast((hit) => hit.line <= at + 1) ?? (hits[0] as LocatedHit)
      return {
        ...describe(owner, options),
        line: at + 1,
        snippet: around(lines, at, options),
      }
    }
    // A hit may be found by what no line of its text says, such as its date.
    if (matching.length === 0)
      found.push({
        words: terms.size,
        held: 0,
        results: hits.map((hit) => () => toResult(hit, terms, options)),
      })
    else {
      // A sentence may go on in the next line.
      found.push({ words, held: mostIn(hits, terms), results: matching.map(lineOf) })
      known.add(path)
    }
  }
  const most = Math.max(...found.map(({ held }) => held))
  const holdsEnough = (held: number): boolean => held === 0 || 2 * held > most
  // A line with all the words comes before those of better files that have only some, or the limit might cut it off.
  const results = found
    .filter(({ held }) => holdsEnough(held))
    .sort((a, b) => b.words - a.words)
    .flatMap((each) => each.results)
  const shown = results
    .slice(0, options.limit)
    .map((result) => result())
    .sort(byPlace)
  const goesOn = next !== undefined && !known.has(next.path) && holdsEnough(mostIn([next], terms))
  return { results: shown, more: results.length > shown.length || goesOn }
}

/** The most of the words that one of the hits holds. */
const mostIn = (hits: readonly LocatedHit[], terms: ReadonlySet<string>): number =>
  Math.max(...hits.map(({ text }) => countTermsIn(text, terms)))

/** File by file, those of a numbered series in their order. `localeCompare` has it, too, but takes 10 ms to begin. */
const byPlace = (a: Result, b: Result): number =>
  compareCodePoints(padded(a.path), padded(b.path)) || compareCodePoints(a.path, b.path) || a.line - b.line

const padded = (path: string): string => path.replace(/\d+/g, (digits) => digits.padStart(16, '0'))

function describe(hit: LocatedHit, { explain, titleOf }: Telling) {
  return {
    scope: hit.scope,
    key: hit.key,
    path: hit.path,
    line: hit.line,
    score: rounded(hit.score),
    confidence: rounded(hit.confidence ?? 0),
    title: titleOf(hit),
    date: new Date(hit.updated).toISOString(),
    snippet: '',
    neighbours: [] as string[],
    ...(explain ? { signals: hit.signals } : {}),
  }
}

const rounded = (share: number): number => Math.round(share * 1000) / 1000

const around = (lines: readonly string[], at: number, { context, excerpt }: Telling): string =>
  excerpt(lines, Math.max(0, at - context), at + context + 1)

const longestTitle = 100
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
    const place = `${colour.magenta(printable(result.path))}:${colour.green(String(result.line))}`
    const rank = options.ranked
      ? `  ${colour.bold(result.confidence.toFixed(2))}  ${colour.dim(`${result.date.slice(0, 10)}  ${printable(result.title)}`)}`
      : ''
    const snippet = options.context > 0 ? result.snippet : excerptOf(result.snippet, terms, longestSnippet)
    const why = result.signals ? `\n  ${colour.dim(explain(result.score, result.signals))}` : ''
    return `${place}${rank}${why}\n${indent(highlight(io, snippet, terms))}`
  })
  const talk = colour.dim(`${results.length} found in ${tookMs} ms`)
  return `${blocks.join('\n')}\n${io.terminal ? `${talk}\n` : ''}`
}

/** The score stands before its parts, because the figure beside the place is the confidence. */
const explain = (score: number, signals: Record<string, number>): string =>
  `score ${score.toFixed(3)}: ${formatSignals(signals)}`

const indent = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')

function highlight(io: Io, text: string, terms: ReadonlySet<string>): string {
  const clean = printable(text)
  if (!io.terminal) return clean
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
