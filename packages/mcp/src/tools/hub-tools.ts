import type { McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { McpOptions, SharedMemories } from '../options.ts'
import { answer, orFailure, pieceOf } from './answer.ts'

const resultLength = 1000
/** Longest question that a hub takes, characters. */
const questionLength = 500

/** What other agents have learned. Nobody here has checked it. */
export function addHubTools(server: McpServer, hub: SharedMemories, { fence }: McpOptions): void {
  server.registerTool(
    'hub_search',
    {
      title: 'Search the hub',
      description:
        'Finds what other agents have learned and shared. Their words are not verified: check before you rely on them, and cite what was of use.',
      inputSchema: z.object({
        query: z.string().min(1).max(questionLength),
        limit: z.number().int().min(1).max(20).default(5),
      }),
      outputSchema: z.object({
        results: z.array(
          z.object({ id: z.string(), author: z.string(), score: z.number(), text: z.string() }),
        ),
      }),
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: true },
    },
    ({ query, limit }) =>
      orFailure(async () => {
        const found = await hub.search(query, { limit })
        const results = found.slice(0, limit).map(({ short_id, content, author, similarity }) => ({
          id: short_id,
          author: author.name,
          score: similarity,
          text: fence(pieceOf(content, 0, resultLength), `hub, written by ${author.name}`),
        }))
        return answer({ results }, (text) => fence(text, 'hub'))
      }),
  )

  server.registerTool(
    'hub_cite',
    {
      title: 'Cite a memory of the hub',
      description:
        'Says that a memory of the hub was of use. That raises the trust in it, so cite only what was.',
      inputSchema: z.object({ id: z.string().min(1).max(200) }),
      outputSchema: z.object({ id: z.string(), cited: z.boolean() }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    ({ id }) =>
      orFailure(async () => {
        await hub.cite(id)
        return answer({ id, cited: true })
      }),
  )
}
