import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Embedder,
  embedQuery,
  isMemoryError,
  MemoryError,
  type MemoryScope,
  memoryScopes,
} from '@recall/core'
import { orAbsent } from '@recall/core/process'
import { excerptOf, queryTerms } from '@recall/core/ranking'
import type { FileStore, LocatedHit, LocateQuery } from '@recall/store-file'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { findRoot, type RootOptions } from '../memory/find-root.ts'
import { withStore } from '../memory/with-store.ts'
import { foundByDate } from '../search/found-by-date.ts'
import { mostResults } from '../search/most-results.ts'
import { renderResults } from '../search/render-results.ts'
import {
  type Hits,
  type Result,
  type ResultOptions,
  rankedResults,
  resultsInFileOrder,
  rounded,
} from '../search/results.ts'
import { titlesIn } from '../search/titles.ts'
import { count, short } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { createRedaction, type Redaction } from '../terminal/redaction.ts'

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

interface Answer extends Hits {
  mode: LocatedHit['mode']
  confidence: number
  /** Passages that have no vector yet. */
  left: number
}

/** The displayed part of an answer. */
interface Shown {
  results: Result[]
  /** Whether some results were cut off. */
  more: boolean
  tookMs: number
}

/** Finds matches and shows the lines of each. Exit code 1 when there are none. */
export async function search(io: Io, query: string, options: SearchCommandOptions): Promise<number> {
  refuseMisuse(query, options)
  const started = process.hrtime.bigint()
  const embedder = await embedderFor(io, options)
  return withStore(io, { ...options, ...(embedder ? { embedder } : {}) }, async (store) => {
    const answer = await find(store, query, embedder, options, io.now())
    const redaction = createRedaction(io)
    const isOfDate = foundByDate(query, io.now())
    const { results, more } = resultsOf(store, query, answer, { ...options, isOfDate }, redaction)
    const tookMs = Number((process.hrtime.bigint() - started) / 100_000n) / 10
    const print = options.json ? printJson : printText
    print(io, query, answer, { results, more, tookMs }, options)
    redaction.tell()
    if (results.length === 0 && store.index.mayLag())
      io.err(
        "recall: edits of the last minute may not be in the index yet: 'recall reindex' looks at every file\n",
      )
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

/** @throws MemoryError of a model that does not answer, with how to search without it */
function withRemedy(error: unknown): never {
  if (!isMemoryError(error)) throw error
  throw new MemoryError(`${error.message} (--lexical searches by words alone)`, error.code, { cause: error })
}

async function find(
  store: FileStore,
  query: string,
  embedder: Embedder | undefined,
  { ranked, scope, limit, minConfidence = 0 }: SearchCommandOptions,
  now: number,
): Promise<Answer> {
  const embedding = embedder && (await embedQuery(embedder, query).catch(withRemedy))
  // Embed recent writes first, so that they are found by meaning, too.
  const left = embedding ? await store.embedRecent(now) : 0
  // A session's summary repeats what was said: such places are dropped again.
  const wanted = ranked ? 2 * limit : limit
  const question: LocateQuery = {
    ...(embedding ? { embedding } : {}),
    namespace: 'default',
    text: query,
    // One more, to know whether there are more.
    limit: wanted + 1,
    ...(ranked ? { passages: limit + 1 } : {}),
    minScore: 0,
    now,
  }
  const found = store.locate(question, scope ? [scope] : memoryScopes)
  const [first] = found
  // The confidence of the best match is that of the whole answer.
  const confidence = first?.confidence ?? 0
  const isSure = !ranked || confidence >= minConfidence
  return {
    mode: first?.mode ?? (embedding ? 'hybrid' : 'lexical'),
    confidence,
    left,
    best: isSure ? found.slice(0, wanted) : [],
    next: isSure ? found[wanted] : undefined,
  }
}

/** The displayed places, without the secrets in them. */
function resultsOf(
  store: FileStore,
  query: string,
  answer: Answer,
  options: SearchCommandOptions & Pick<ResultOptions, 'isOfDate'>,
  { redact, excerpt, partOf }: Redaction,
): Omit<Shown, 'tookMs'> {
  const isTitled = options.ranked || options.json
  const resultOptions = {
    ...options,
    excerpt,
    partOf,
    linesOf: linesIn(store.root),
    titleOf: isTitled ? titlesIn(store.root) : () => '',
  }
  const terms = new Set(queryTerms(query))
  const { results, more } = options.ranked
    ? rankedResults(answer, terms, resultOptions)
    : resultsInFileOrder(store, answer, terms, resultOptions)
  const clean = results.map((result) => ({
    ...result,
    title: short(redact(result.title), longestTitle),
    snippet: withShortLines(redact(result.snippet), terms),
    neighbours: result.neighbours.map(redact),
  }))
  return { results: clean, more }
}

const longestTitle = 100
/** Longer than any passage. A line of a pasted file may have megabytes. */
const longestLine = 2000

const withShortLines = (text: string, terms: ReadonlySet<string>): string =>
  text
    .split('\n')
    .map((line) => excerptOf(line, terms, longestLine))
    .join('\n')

/** Returns a function that reads the lines of a file, once; none when the file is gone. */
function linesIn(root: string): (path: string) => readonly string[] {
  const known = new Map<string, readonly string[]>()
  return (path) => {
    const lines =
      known.get(path) ?? orAbsent(() => readFileSync(join(root, path), 'utf8'))?.split(/\r?\n/) ?? []
    known.set(path, lines)
    return lines
  }
}

type Print = (io: Io, query: string, answer: Answer, shown: Shown, options: SearchCommandOptions) => void

const printJson: Print = (io, query, { mode, confidence, left }, { results, more, tookMs }, { ranked }) =>
  io.out(
    `${JSON.stringify({
      query,
      mode,
      ...(ranked ? { confidence: rounded(confidence) } : {}),
      tookMs,
      results,
      ...(more ? { more } : {}),
      ...(left > 0 ? { withoutVectors: left } : {}),
    })}\n`,
  )

const printText: Print = (io, query, { left }, { results, more, tookMs }, options) => {
  io.out(renderResults(io, results, new Set(queryTerms(query)), options, tookMs))
  if (more) {
    const remedy = options.limit < mostResults ? 'a higher --limit shows it' : 'more words narrow it down'
    io.err(`recall: there is more: ${remedy}\n`)
  }
  if (left > 0)
    io.err(`recall: ${count(left, 'passage')} found by words alone so far: recall reindex --model\n`)
}
