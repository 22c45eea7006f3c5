import type { McpServer } from '@modelcontextprotocol/server'
import { type JsonValue, type MemoryMatch, type MemoryScope, redactPartsOf } from '@recall/core'
import {
  besideLength,
  excerptOf,
  type FoundPassage,
  passagesFor,
  queryTerms,
  surestPassages,
} from '@recall/core/ranking'
import { beginningOf } from '@recall/core/text'
import * as z from 'zod'
import type { McpOptions } from '../options.ts'
import { answerFrom, orFailure, Recalled, type Recalling, withoutSecrets } from './answer.ts'
import { hasArchive, scope, wholeText } from './stored-memory.ts'

/** Longest text of a result, in characters. */
const resultLength = 700
/** Most places of one memory among the results of a search. */
const mostOfOne = 10
/** Most reports of what was not searched. */
const mostReports = 5

const hit = z.object({
  key: z.string(),
  scope,
  score: z.number().describe('how well it matches compared with others of its scope, 0 to 1'),
  confidence: z.number().optional().describe('how likely it is the answer, 0 to 1; decides the order'),
  recorded: z.string().describe('when this text was written, not the first one under its key'),
  source: z.string().describe('where it is; name it when you rely on it'),
  text: z.string(),
  beside: z.string().optional().describe('the text just before and after it: the answer to a question, say'),
  archived: z.boolean().optional().describe('it was moved to the archive because of its age'),
})

export function addSearch(server: McpServer, { memory, notSearched = () => [] }: McpOptions): void {
  server.registerTool(
    'memory_search',
    {
      title: 'Search memory',
      description:
        'Finds what was said, decided or learned in earlier sessions, the best places first. Searches sessions and facts unless a scope is given. Ask with the words that would have been used then.',
      inputSchema: z.strictObject({
        query: z.string().min(1).max(2000).regex(/\S/, 'must hold a word').describe('words to find'),
        scope: scope.optional().describe('long-term: facts; episodic: sessions'),
        limit: z.number().int().min(1).max(20).default(5),
        minConfidence: z
          .number()
          .min(0)
          .max(1)
          .default(0)
          .describe(
            'return nothing when memory is less likely than this to know the answer; 0.2 is a good start',
          ),
        archived: z
          .boolean()
          .default(false)
          .describe(
            'also search what was archived because of its age: slower, for when nothing else is found',
          ),
      }),
      outputSchema: z.object({
        results: z.array(hit),
        mode: z
          .string()
          .optional()
          .describe('how the first result was found: by words, by meaning or by both'),
        confidence: z.number().optional().describe('how likely memory knows what was asked, 0 to 1'),
        notSearched: z
          .array(z.string())
          .optional()
          .describe('what could not be read, so that the answer may lack it: tell the user'),
      }),
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    ({ query, scope: one, limit, minConfidence, archived }) =>
      orFailure(async () => {
        const scopes: MemoryScope[] = one ? [one] : ['long-term', 'episodic']
        const found = await Promise.all(
          scopes.map((each) => {
            const includeArchived = archived && hasArchive(memory, each)
            const passages = passagesFor(Math.min(limit, mostOfOne))
            const options = { limit, passages, minConfidence, includeArchived }
            return memory.search(each, { text: query }, options)
          }),
        )
        const best = surestPassages(found.flat(), limit, mostOfOne)
        const terms = new Set(queryTerms(query))
        const redactorOf = redactors()
        const results = best.map((place) => hitOf(place, terms, redactorOf(place.match)))
        const { mode } = best[0]?.match ?? {}
        const { confidence } = results[0] ?? {}
        const missed = await Promise.all(scopes.map((each) => notSearched(each)))
        return answerFrom('search of memory', {
          results,
          ...(mode === undefined ? {} : { mode }),
          ...(confidence === undefined ? {} : { confidence }),
          ...reported([...new Set(missed.flat())]),
        })
      }),
  )
}

/** A report names a file, whose name anybody may have chosen. */
function reported(problems: readonly string[]): { notSearched?: (string | Recalled)[] } {
  if (problems.length === 0) return {}
  const named: (string | Recalled)[] = problems
    .slice(0, mostReports)
    .map((each) => new Recalled(beginningOf(withoutSecrets(each), resultLength), 'search of memory'))
  const more = problems.length - named.length
  return { notSearched: more === 0 ? named : [...named, `and ${more} more`] }
}

const rounded = (share: number): number => Math.round(share * 1000) / 1000

/**
 * Returns a function that gives the redactor of a match's parts. A redactor looks through the whole memory, so each is
 * made once.
 */
function redactors(): (match: MemoryMatch<unknown>) => (part: string) => string {
  const known = new Map<MemoryMatch<unknown>, (part: string) => string>()
  return (match) => {
    const redact =
      known.get(match) ?? redactPartsOf({ value: match.value as JsonValue, type: match.metadata.type })
    known.set(match, redact)
    return redact
  }
}

function hitOf(
  place: FoundPassage<unknown>,
  terms: ReadonlySet<string>,
  redact: (part: string) => string,
): Recalling<z.infer<typeof hit>> {
  const { match, passage, score, confidence } = place
  const source = passage?.path
    ? `${passage.path}${passage.line ? `:${passage.line}` : ''} (${match.key})`
    : match.key
  const text = passage ? redact(passage.text) : wholeText(match)
  return {
    key: match.key,
    scope: match.metadata.scope,
    score: rounded(score),
    ...(confidence === undefined ? {} : { confidence: rounded(confidence) }),
    recorded: new Date(match.metadata.updatedAt).toISOString(),
    source,
    text: new Recalled(excerptOf(text, terms, resultLength), source),
    ...besideOf(passage?.neighbours?.map(redact), source),
    ...(match.archived ? { archived: true } : {}),
  }
}

function besideOf(neighbours: readonly string[] = [], source: string): { beside?: Recalled } {
  if (neighbours.length === 0) return {}
  const pieces = neighbours.map((each) => beginningOf(each, besideLength))
  return { beside: new Recalled(pieces.join('\n\n'), source) }
}
