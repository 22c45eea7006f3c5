import type { McpServer } from '@modelcontextprotocol/server'
import {
  besideLength,
  conversationType,
  excerptOf,
  type FoundPassage,
  fenceRecalled,
  isMemoryError,
  type MatchedPassage,
  MemoryError,
  MemoryErrorCode,
  type MemoryManager,
  type MemoryRecord,
  type MemoryScope,
  memoryScopes,
  passagesFor,
  queryTerms,
  type ReadOptions,
  surestPassages,
} from '@recall/core'
import { updateEntry } from '@recall/core/protocol'
import * as z from 'zod'
import type { McpOptions } from '../options.ts'
import { answer, answerFrom, beginningAt, orFailure, pieceOf, withoutSecrets } from './answer.ts'

const scope = z.enum(memoryScopes)
const key = z.string().min(1).max(1024)
/** Longest text in characters: of a result, and of a piece that is read. */
const resultLength = 700
const pieceLength = 12_000
/** Most places of one memory among the results of a search. */
const mostOfOne = 10

const hit = z.object({
  key: z.string(),
  scope,
  score: z.number().describe('how well it matches beside others of its scope, 0 to 1'),
  confidence: z.number().optional().describe('how likely it is the answer, 0 to 1; decides the order'),
  recorded: z.string(),
  source: z.string().describe('where it stands; name it when you rely on it'),
  text: z.string(),
  beside: z
    .string()
    .optional()
    .describe('what stands just before and after it: the answer to a question, say'),
  archived: z.boolean().optional().describe('it was moved to the archive for its age'),
})

/** Adds the tools search, remember, read and forget, which work on any memory. */
export function addMemoryTools(server: McpServer, options: McpOptions): void {
  addSearch(server, options)
  addRemember(server, options)
  addRead(server, options)
  addForget(server, options)
}

function addSearch(server: McpServer, { memory }: McpOptions): void {
  server.registerTool(
    'memory_search',
    {
      title: 'Search memory',
      description:
        'Finds what was said, decided or learned in earlier sessions, the best places first. Searches sessions and facts unless a scope is given. Ask with the words that would have been used then.',
      inputSchema: z.object({
        query: z.string().min(1).max(2000).regex(/\S/, 'must hold a word').describe('words to find'),
        scope: scope.optional().describe('long-term: facts; episodic: sessions'),
        limit: z.number().int().min(1).max(20).default(5),
        minConfidence: z
          .number()
          .min(0)
          .max(1)
          .default(0)
          .describe('return nothing when memory is less likely than this to know; 0.2 is a good start'),
        archived: z
          .boolean()
          .default(false)
          .describe(
            'look also through what was archived for its age: slower, for when nothing else is found',
          ),
      }),
      outputSchema: z.object({
        results: z.array(hit),
        mode: z
          .string()
          .optional()
          .describe('how the first result was found: by words, by meaning or by both'),
        confidence: z.number().optional().describe('how likely memory knows what was asked, 0 to 1'),
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
        const results = best.map((place) => hitOf(place, terms))
        const { mode } = best[0]?.match ?? {}
        const { confidence } = results[0] ?? {}
        return answerFrom('search of memory', {
          results,
          ...(mode === undefined ? {} : { mode }),
          ...(confidence === undefined ? {} : { confidence }),
        })
      }),
  )
}

function addRemember(server: McpServer, { memory }: McpOptions): void {
  server.registerTool(
    'memory_remember',
    {
      title: 'Remember',
      description:
        'Keeps one confirmed fact, preference or decision for later sessions. Write it so that it can be understood alone: who, what, why. Secrets are replaced before anything is stored.',
      inputSchema: z.object({
        text: z.string().min(1).max(20_000).regex(/\S/, 'must hold a word'),
        key: key.optional().describe('a name to find it by; made from the text when absent'),
        tags: z.array(z.string().min(1).max(80)).max(20).default([]),
        replace: z.boolean().default(false).describe('overwrite what is kept under the key'),
      }),
      outputSchema: z.object({ key: z.string(), scope, remembered: z.boolean() }),
      annotations: {
        readOnlyHint: false,
        // With `replace` it overwrites.
        destructiveHint: true,
        idempotentHint: true,
        openWorldHint: false,
      },
    },
    ({ text, key: given, tags, replace }) =>
      orFailure(async () => {
        const name = given ?? (await noteKey(text.trim()))
        if (given === undefined) await keepNote(memory, name, { text, tags, replace })
        else await keepUnder(memory, name, { text, tags, replace })
        return answer({ key: name, scope: 'long-term', remembered: true })
      }),
  )
}

interface Remembered {
  text: string
  tags: string[]
  replace: boolean
}

/** The same text is one memory, with all the tags it ever got. What somebody made of it since is another text. */
async function keepNote(
  memory: MemoryManager,
  name: string,
  { text, tags, replace }: Remembered,
): Promise<void> {
  await updateEntry<unknown>(memory, 'long-term', name, (known, metadata) => {
    if (metadata && !replace && !isSameText(known, text)) {
      throw new MemoryError(
        `'${name}' was changed since it was remembered: read it, and set replace to true to overwrite it`,
        MemoryErrorCode.INVALID_INPUT,
      )
    }
    return { value: text, tags: [...new Set([...(metadata?.tags ?? []), ...tags])] }
  })
}

/** Whether a value is the text, as it was given or as it is kept. */
const isSameText = (known: unknown, text: string): boolean =>
  typeof known === 'string' && [text, withoutSecrets(text)].some((each) => each.trim() === known.trim())

async function keepUnder(
  memory: MemoryManager,
  name: string,
  { text, tags, replace }: Remembered,
): Promise<void> {
  await memory.write('long-term', name, text, { tags, overwrite: replace }).catch((cause) => {
    if (replace || !isMemoryError(cause, MemoryErrorCode.CONFLICT)) throw cause
    throw new MemoryError(
      `'${name}' is kept already: choose another key, or set replace to true to overwrite it`,
      MemoryErrorCode.INVALID_INPUT,
      { cause },
    )
  })
}

async function noteKey(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `note:${hex.slice(0, 16)}`
}

function addRead(server: McpServer, { memory }: McpOptions): void {
  server.registerTool(
    'memory_read',
    {
      title: 'Read a memory',
      description: `Returns one memory whole, by the key and scope that memory_search gave, in pieces of ${pieceLength} characters.`,
      inputSchema: z.object({ key, scope, offset: z.number().int().min(0).default(0) }),
      outputSchema: z.object({
        key: z.string(),
        scope,
        recorded: z.string(),
        text: z.string(),
        length: z.number().describe('characters in all'),
        nextOffset: z.number().optional().describe('absent at the end'),
      }),
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    ({ key: name, scope: where, offset }) =>
      orFailure(async () => {
        const record = await readAny(memory, where, name)
        if (record === null) {
          throw new MemoryError(`there is no memory '${name}' in ${where}`, MemoryErrorCode.NOT_FOUND)
        }
        const whole = withoutSecrets(wholeText(record))
        if (offset > whole.length) {
          throw new MemoryError(
            `offset ${offset} is behind the end, ${whole.length}`,
            MemoryErrorCode.INVALID_INPUT,
          )
        }
        const start = beginningAt(whole, offset)
        const piece = pieceOf(whole, start, pieceLength)
        const next = start + piece.length
        return answerFrom(name, {
          key: name,
          scope: where,
          recorded: new Date(record.metadata.createdAt).toISOString(),
          text: fenceRecalled(piece, name),
          length: whole.length,
          ...(next < whole.length ? { nextOffset: next } : {}),
        })
      }),
  )
}

function addForget(server: McpServer, options: McpOptions): void {
  const { memory } = options
  server.registerTool(
    'memory_forget',
    {
      title: 'Forget a memory',
      description: `Removes one memory for good, by its exact key. Only when the user asks for it.${options.forget ? ' With the archive of a session, conversation:<id> in episodic, goes everything kept of that session: its other parts, those of its helpers, and its summary.' : ''}`,
      inputSchema: z.object({ key, scope }),
      outputSchema: z.object({ key: z.string(), scope, forgotten: z.boolean() }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    ({ key: name, scope: where }) =>
      orFailure(async () => {
        if ((await readAny(memory, where, name, { decrypt: false })) === null) {
          throw new MemoryError(`there is no memory '${name}' in ${where}`, MemoryErrorCode.NOT_FOUND)
        }
        await (options.forget ?? memory.delete.bind(memory))(where, name)
        return answer({ key: name, scope: where, forgotten: true })
      }),
  )
}

const hasArchive = (memory: MemoryManager, where: MemoryScope): boolean =>
  memory.capabilities[where].archive === true

/** The memory under a key, archived or not. */
const readAny = (memory: MemoryManager, where: MemoryScope, name: string, options: ReadOptions = {}) =>
  memory.read(where, name, { ...options, includeMetadata: true, includeArchived: hasArchive(memory, where) })

const rounded = (share: number): number => Math.round(share * 1000) / 1000

function hitOf(place: FoundPassage<unknown>, terms: ReadonlySet<string>): z.infer<typeof hit> {
  const { match, passage, score, confidence } = place
  const source = passage?.path
    ? `${passage.path}${passage.line ? `:${passage.line}` : ''} (${match.key})`
    : match.key
  const text = withoutSecrets(passage?.text ?? wholeText(match))
  return {
    key: match.key,
    scope: match.metadata.scope,
    score: rounded(score),
    ...(confidence === undefined ? {} : { confidence: rounded(confidence) }),
    recorded: new Date(match.metadata.createdAt).toISOString(),
    source,
    text: fenceRecalled(excerptOf(text, terms, resultLength), source),
    ...besideOf(passage, source),
    ...(match.archived ? { archived: true } : {}),
  }
}

function besideOf(passage: MatchedPassage | undefined, source: string): { beside?: string } {
  const neighbours = passage?.neighbours ?? []
  if (neighbours.length === 0) return {}
  const pieces = neighbours.map((each) => pieceOf(withoutSecrets(each), 0, besideLength))
  return { beside: fenceRecalled(pieces.join('\n\n'), source) }
}

/** A memory whole: a text as it is, the body of a session's archive, and any other value as JSON. */
function wholeText({ value, metadata }: MemoryRecord<unknown>): string {
  if (typeof value === 'string') return value
  const body = (value as { body?: unknown } | null)?.body
  return metadata.type === conversationType && typeof body === 'string'
    ? body
    : JSON.stringify(value, null, 2)
}
