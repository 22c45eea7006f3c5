import { dirname } from 'node:path'
import { conversationType, type MemoryScope } from '@recall/core'
import { countTermsIn, newsFilter, withoutRepeats } from '@recall/core/ranking'
import { compareCodePoints, spokenText } from '@recall/core/text'
import type { FileStore, LocatedHit } from '@recall/store-file'
import type { Redaction } from '../terminal/redaction.ts'
import { bodyStart, matchingLines } from './matching-lines.ts'

/** A place where something was found. */
export interface Result {
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

/** How to present results. */
export interface ResultOptions extends Pick<Redaction, 'excerpt' | 'partOf'> {
  limit: number
  /** Lines around a matching one. */
  context: number
  explain?: boolean
  /** Whether a place's neighbours are included, too: only for programs. */
  json?: boolean
  /** The lines of a file, relative to the root; none when it is gone. */
  linesOf: (path: string) => readonly string[]
  /** Whether a hit of which no line holds any of the words may be shown: see `foundByDate`. */
  isOfDate: (hit: LocatedHit) => boolean
  /** Returns an empty text where no title is shown: finding one reads files. */
  titleOf: (hit: LocatedHit) => string
}

export interface Hits {
  best: readonly LocatedHit[]
  /** The best of those that were cut off. */
  next: LocatedHit | undefined
}

/** The best line of each place, best first, only once if several say the same; `more` if some were cut off. */
export function rankedResults(
  { best, next }: Hits,
  terms: ReadonlySet<string>,
  options: ResultOptions,
): { results: Result[]; more: boolean } {
  const isNews = newsFilter()
  const places: Place[] = []
  for (const hit of withoutRepeats(best, (hit) => hit)) {
    // One more than the limit shows that there are more.
    if (places.length > options.limit) break
    const place = bestLineOf(hit, terms)
    const { from, to } = linesAround(place.at, options)
    const text = place.lines.slice(from, to).join('\n')
    if (isNews({ text, neighbours: hit.neighbours })) places.push(place)
  }
  const more = places.length > options.limit || next !== undefined
  return { results: places.slice(0, options.limit).map((place) => toResult(place, options)), more }
}

/** A line of a hit. */
interface Place {
  hit: LocatedHit
  lines: readonly string[]
  at: number
}

function bestLineOf(hit: LocatedHit, terms: ReadonlySet<string>): Place {
  const lines = hit.text.split('\n')
  // A speaker's heading says nothing, even if it holds a word that people search for.
  const counts = lines.map((line) => countTermsIn(spokenText(`${line}\n`), terms))
  const most = Math.max(...counts)
  // A hit by meaning may hold none of the words: then show the first line of prose.
  const at = Math.max(0, most > 0 ? counts.indexOf(most) : lines.findIndex((line) => /^[^#\s]/.test(line)))
  return { hit, lines, at }
}

function toResult(place: Place, options: ResultOptions): Result {
  const { hit } = place
  const { lines, at, line } = inFile(place, options)
  return {
    ...describe(hit, line, options),
    snippet: around(lines, at, hit, options),
    neighbours: options.json ? (hit.neighbours ?? []).map((each) => beside(each, hit, options)) : [],
  }
}

/** A place among its surrounding lines, and its line in the file. */
function inFile(place: Place, { linesOf }: ResultOptions): Pick<Place, 'lines' | 'at'> & { line: number } {
  const { hit, lines, at } = place
  const shown = lines[at] ?? ''
  if (hit.madeOf !== undefined) return { lines, at, line: lineOf(shown, hit, linesOf(hit.path)) }
  const line = hit.line + at
  // A hit without neighbours is complete. An archive is long, and its passages are turns, which are shown by
  // themselves.
  const isWhole = hit.neighbours === undefined || hit.type === conversationType
  const own = isWhole ? [] : linesOf(hit.path)
  if (own[line - 1] !== shown) return { lines, at, line }
  // Lines of front matter say nothing about the text below it.
  const above = bodyStart(own) < line ? bodyStart(own) : 0
  return { lines: own.slice(above), at: line - 1 - above, line }
}

/** The line of a note that holds a line of the text made from its value; otherwise the line of the value. */
function lineOf(text: string, { line }: LocatedHit, lines: readonly string[]): number {
  if (text.trim() === '') return line
  const quoted = JSON.stringify(text).slice(1, -1)
  const holds = (each: string): boolean => each.includes(quoted) || each.includes(text)
  const inValue = lines.findIndex((each, i) => i >= line - 1 && holds(each))
  // A searchable text that was given with the entry is in the front matter.
  const found = inValue >= 0 ? inValue : lines.findIndex(holds)
  return found >= 0 ? found + 1 : line
}

/** How far around a place, in lines, its neighbours may reach. */
const nearby = 400

/** The neighbours of a place, without the secrets that their surroundings reveal. */
function beside(text: string, { madeOf, type, line, path }: LocatedHit, options: ResultOptions): string {
  if (madeOf !== undefined) return options.partOf(madeOf, text)
  if (type === conversationType) return text
  const near = options.linesOf(path).slice(Math.max(0, line - nearby), line + nearby)
  return options.partOf(near.join('\n'), text)
}

/**
 * The matching lines of the files with the best hits, in the order of the files; `more` if some were cut off. Files
 * whose hits hold at most half of the words that another's hold are left out, as are those that hold none, unless they
 * are of a date that is asked for.
 */
export function resultsInFileOrder(
  store: Pick<FileStore, 'layout'>,
  { best, next }: Hits,
  terms: ReadonlySet<string>,
  options: ResultOptions,
): { results: Result[]; more: boolean } {
  const files = [...new Set(best.map(({ path }) => path))].flatMap((path) => {
    const hits = best.filter((hit) => hit.path === path).sort((a, b) => a.line - b.line)
    return matchesInFile(store, path, hits, terms, options) ?? []
  })
  const most = Math.max(...files.map(({ held }) => held))
  const holdsEnough = (held: number): boolean => held === 0 || 2 * held > most
  // A line with all the words precedes those of better files that have only some; otherwise the limit might cut it off.
  const lines = files
    .filter(({ held }) => holdsEnough(held))
    .sort((a, b) => b.words - a.words)
    .flatMap((file) => file.lines)
  const shown = lines.slice(0, options.limit)
  const results = (
    options.json ? shown.map((line) => line.toResult(line.at)) : together(shown, options)
  ).sort(byPlace)
  const isKnown = files.some(({ path, isComplete }) => isComplete && path === next?.path)
  const heldByNext = next && mostIn([next], terms)
  const goesOn =
    next !== undefined && !isKnown && (heldByNext ? holdsEnough(heldByNext) : options.isOfDate(next))
  return { results, more: lines.length > shown.length || goesOn }
}

/** A line that holds some of the words. */
interface MatchingLine {
  owner: LocatedHit
  at: number
  /** Called only for the lines that are shown: in a long session, most lines may hold the words. */
  toResult(to: number): Result
}

/** Lines whose surroundings meet are shown together, with everything between them. */
function together(lines: readonly MatchingLine[], { context }: ResultOptions): Result[] {
  const groups: { first: MatchingLine; to: number }[] = []
  for (const line of lines) {
    const last = groups.at(-1)
    const meets =
      last?.first.owner === line.owner && line.at > last.to && line.at - last.to <= 2 * context + 1
    if (last && meets && context > 0) last.to = line.at
    else groups.push({ first: line, to: line.at })
  }
  return groups.map(({ first, to }) => first.toResult(to))
}

interface FileMatches {
  path: string
  /** The most words that one of its lines holds; 0 for hits that were found in another way. */
  words: number
  /** The most words that one of its hits holds; 0 for hits that were found in another way. */
  held: number
  /** Whether all of its matching lines are among the results. */
  isComplete: boolean
  lines: MatchingLine[]
}

function matchesInFile(
  { layout }: Pick<FileStore, 'layout'>,
  path: string,
  hits: readonly LocatedHit[],
  terms: ReadonlySet<string>,
  options: ResultOptions,
): FileMatches | undefined {
  const lines = options.linesOf(path)
  // Curated files and the window have none: the part between their first two rules is text.
  const mayHaveFrontMatter = dirname(path) !== layout.memory && path !== layout.window
  const { lines: matching, words } = matchingLines(lines, terms, {
    mayHaveFrontMatter,
    enough: options.limit + 1,
  })
  // A hit may be found by something that no line of its text says, such as its date.
  if (matching.length === 0) {
    const places = hits.filter(options.isOfDate).map((owner) => {
      const place = bestLineOf(owner, terms)
      return { owner, at: place.at, toResult: () => toResult(place, options) }
    })
    return places.length > 0 ? { path, words: 0, held: 0, isComplete: false, lines: places } : undefined
  }
  const found = matching.map((at): MatchingLine => {
    // Several memories may share a file: a line belongs to the last one that begins at or before it.
    const owner = hits.findLast((hit) => hit.line <= at + 1) ?? (hits[0] as LocatedHit)
    const resultTo = (to: number): Result => ({
      ...describe(owner, at + 1, options),
      snippet: around(lines, at, owner, options, to),
      neighbours: [],
    })
    return { owner, at, toResult: resultTo }
  })
  // A sentence may continue in the next line, so that no line holds all the words of the hit.
  return { path, words, held: mostIn(hits, terms), isComplete: true, lines: found }
}

/** The most words that one of the hits holds. */
const mostIn = (hits: readonly LocatedHit[], terms: ReadonlySet<string>): number =>
  Math.max(...hits.map(({ text }) => countTermsIn(text, terms)))

/** File by file, with numbered series in order. `localeCompare` could do it, too, but takes 10 ms to start. */
const byPlace = (a: Result, b: Result): number =>
  compareCodePoints(padded(a.path), padded(b.path)) || compareCodePoints(a.path, b.path) || a.line - b.line

const padded = (path: string): string => path.replace(/\d+/g, (digits) => digits.padStart(16, '0'))

function describe(
  hit: LocatedHit,
  line: number,
  { explain, titleOf }: ResultOptions,
): Omit<Result, 'snippet' | 'neighbours'> {
  return {
    scope: hit.scope,
    key: hit.key,
    path: hit.path,
    line,
    score: rounded(hit.score),
    confidence: rounded(hit.confidence ?? 0),
    title: titleOf(hit),
    date: new Date(hit.updated).toISOString(),
    ...(explain ? { signals: hit.signals } : {}),
  }
}

export const rounded = (share: number): number => Math.round(share * 1000) / 1000

const linesAround = (at: number, { context }: ResultOptions, last = at): { from: number; to: number } => ({
  from: Math.max(0, at - context),
  to: last + context + 1,
})

/** The lines around one, or around a range from it to a last one. */
function around(
  lines: readonly string[],
  at: number,
  { madeOf }: LocatedHit,
  options: ResultOptions,
  last = at,
): string {
  const { from, to } = linesAround(at, options, last)
  const shown = options.excerpt(lines, from, to)
  return madeOf === undefined ? shown : options.partOf(madeOf, shown)
}
