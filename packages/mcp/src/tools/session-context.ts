import type { McpServer } from '@modelcontextprotocol/server'
import { sessionSummary, sessionSummaryType } from '@recall/core'
import { beginningOf, parseInstant } from '@recall/core/text'
import * as z from 'zod'
import type { McpOptions } from '../options.ts'
import { answerFrom, orFailure, Recalled, withoutSecrets } from './answer.ts'

const sessionLength = 1500

/** Adds the tool that reads the window of recent sessions. */
export function addSessionContext(server: McpServer, { memory }: McpOptions): void {
  server.registerTool(
    'session_context',
    {
      title: 'What the last sessions were about',
      description:
        'Summaries of the last sessions, the latest last. Call it once at the start of a task, unless a <recalled-memory> block was given to you.',
      inputSchema: z.strictObject({ sessions: z.number().int().min(1).max(10).default(5) }),
      outputSchema: z.object({
        sessions: z.array(
          z.object({
            sessionId: z.string(),
            ended: z.string(),
            project: z.optional(z.string()),
            archive: z.string(),
            summary: z.string(),
          }),
        ),
      }),
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    ({ sessions: most }) =>
      orFailure(async () => {
        const found = await memory.search(
          'short-term',
          { filters: { type: sessionSummaryType } },
          { limit: 100, touch: false },
        )
        const sessions = found
          // Anybody who writes to the memory may give a value this type.
          .flatMap(({ value }) => sessionSummary.safeParse(value).data ?? [])
          .sort((a, b) => timeOf(a.date) - timeOf(b.date))
          .slice(-most)
          .map(({ sessionId, date, project, archive, summary }) => ({
            sessionId: asName(sessionId, archive),
            ended: date,
            ...(project === undefined ? {} : { project: asName(withoutSecrets(project), archive) }),
            archive,
            summary: new Recalled(beginningOf(withoutSecrets(summary), sessionLength), archive),
          }))
        return answerFrom('session window', { sessions })
      }),
  )
}

const nameLength = 200

/** A name without blanks says nothing to an agent; a longer one, or one with blanks, may be a sentence for it. */
function asName(text: string, source: string): string | Recalled {
  const name = beginningOf(text, nameLength)
  return /\s/.test(name) ? new Recalled(name, source) : name
}

/** A date that does not parse counts as the oldest. */
const timeOf = (date: string): number => parseInstant(date) || 0
