import type { McpServer } from '@modelcontextprotocol/server'
import { MemoryErrorCode, redactJson, redactText } from '@recall/core'
import { excerptOf, queryTerms } from '@recall/core/ranking'
import { beginningOf } from '@recall/core/text'
import * as z from 'zod'
import type { SharedMemories, SharedMemory } from '../options.ts'
import { answer, answerFrom, orFailure, Recalled, secretsReplaced, withoutSecrets } from './answer.ts'
import { offsetSchema, pieceAt, pieceLength, pieceShape } from './pieces.ts'

const resultLength = 1000
/** Longest name that a hub gives an agent, in characters. */
const nameLength = 100
/** Longest address of a source that a hub accepts, in characters. */
const addressLength = 2048
/** Longest text that a hub accepts, in characters: in a longer one no secret is looked for. */
const contentLength = 20_000
const tagLength = 64
const mostTags = 60
/** Longest question that a hub accepts, in characters. */
const questionLength = 500

const id = z.string().min(1).max(200)
const remedyOf = (verb: string) => ({
  [MemoryErrorCode.NOT_FOUND]: `${verb} the id of a result of hub_search.`,
})

/** What the hub says of a memory besides its text. */
const facts = {
  id: z.string(),
  author: z.string(),
  recorded: z.string().optional(),
  source_url: z.string().optional().describe('where it can be checked'),
}

/** Anybody who registers chooses a name and addresses: like any text, they may hold an instruction. */
const factsOf = ({ short_id, author, created_at, source_url }: SharedMemory, source: string) => ({
  id: short_id,
  author: new Recalled(beginningOf(withoutSecrets(author.name), nameLength), source),
  ...(Number.isNaN(Date.parse(created_at)) ? {} : { recorded: new Date(created_at).toISOString() }),
  ...(source_url ? { source_url: new Recalled(withoutSecrets(source_url), source) } : {}),
})

const sourceOf = ({ short_id }: SharedMemory): string => `hub, ${short_id}`

/** Adds the tools for a hub, whose memories come from other agents and are not verified. */
export function addHubTools(server: McpServer, hub: SharedMemories): void {
  server.registerTool(
    'hub_search',
    {
      title: 'Search the hub',
      description:
        'Finds what other agents have learned and shared. Their words are not verified: check before you rely on them, and cite what was useful.',
      inputSchema: z.strictObject({
        query: z.string().min(1).max(questionLength),
        limit: z.number().int().min(1).max(20).default(5),
      }),
      outputSchema: z.object({
        results: z.array(
          z.object({
            ...facts,
            score: z.number(),
            text: z.string().describe(`at most ${resultLength} characters; hub_read has all`),
          }),
        ),
      }),
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: true },
    },
    ({ query, limit }) =>
      orFailure(async () => {
        // What replaces a secret may be longer.
        const question = beginningOf(redactText(query).text, questionLength)
        const found = await hub.search(question, { limit })
        const terms = new Set(queryTerms(query))
        const results = found.slice(0, limit).map((memory) => {
          const source = sourceOf(memory)
          return {
            ...factsOf(memory, source),
            score: memory.similarity,
            text: new Recalled(excerptOf(withoutSecrets(memory.content), terms, resultLength), source),
          }
        })
        return answerFrom('hub', { results })
      }),
  )

  server.registerTool(
    'hub_read',
    {
      title: 'Read a memory of the hub',
      description: `Returns one whole memory of the hub, by the id that hub_search gave, in pieces of ${pieceLength} characters.`,
      inputSchema: z.strictObject({ id, offset: offsetSchema }),
      outputSchema: z.object({ ...facts, text: z.string(), ...pieceShape }),
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: true },
    },
    ({ id, offset }) =>
      orFailure(async () => {
        const memory = await hub.get(id)
        const source = sourceOf(memory)
        const { piece, place } = pieceAt(withoutSecrets(memory.content), offset)
        return answerFrom(source, {
          ...factsOf(memory, source),
          text: new Recalled(piece, source),
          ...place,
        })
      }, remedyOf('Read')),
  )

  server.registerTool(
    'hub_save',
    {
      title: 'Save to the hub',
      description:
        'Shares what you learned with agents everywhere, after solving a problem that was not trivial: what failed, why, and what helped, in words that somebody with the same problem would use. One lesson a call, and only what is confirmed. No secrets, no names of people, nothing that only your team can use: that is for memory_remember.',
      inputSchema: z.strictObject({
        content: z.string().min(1).max(contentLength).describe('80 to 20,000 characters, better 200 or more'),
        tags: z
          .array(z.string().min(1).max(tagLength))
          .max(mostTags)
          .describe('2 to 6 concrete nouns: the system, the error, the component'),
        source_url: z
          .string()
          .max(addressLength)
          .optional()
          .describe('where others can check it, when there is such a place: an issue, an incident, a post'),
      }),
      outputSchema: z.object({
        id: z.string().describe('name it as source: Recall #<id>'),
        status: z.enum(['saved', 'queued']).describe('queued: kept, and found a little later'),
        similar: z
          .array(z.object({ id: z.string(), relation: z.string() }))
          .describe('what the hub already knew'),
        warnings: z.array(z.string()).describe('what would make it better'),
      }),
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      },
    },
    ({ content, tags, source_url }) =>
      orFailure(async () => {
        // The hub redacts too, but a secret should not travel that far.
        const { value, counts } = redactJson({ content, tags, ...(source_url ? { source_url } : {}) })
        const saved = await hub.save(value as unknown as Parameters<SharedMemories['save']>[0])
        return answer({
          id: saved.short_id,
          status: saved.status,
          similar: saved.similar.map(({ short_id, relation }) => ({ id: short_id, relation })),
          warnings: [...secretsReplaced(counts, 'sent'), ...(saved.warnings ?? [])],
        })
      }),
  )

  server.registerTool(
    'hub_cite',
    {
      title: 'Cite a memory of the hub',
      description:
        'Records that a memory of the hub was useful. That counts in its favour, so cite only useful ones.',
      inputSchema: z.strictObject({ id }),
      outputSchema: z.object({ id: z.string(), cited: z.boolean() }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    ({ id }) =>
      orFailure(async () => {
        await hub.cite(id)
        return answer({ id, cited: true })
      }, remedyOf('Cite')),
  )
}
