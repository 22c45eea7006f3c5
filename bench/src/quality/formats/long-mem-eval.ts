import { z } from 'zod'
import type { Collection } from '../data-set.ts'
import { parseTime } from './parse-time.ts'

export const longMemEval = z.array(
  z
    .object({
      question_id: z.string(),
      question: z.string(),
      question_type: z.string(),
      haystack_dates: z.array(z.string()),
      haystack_session_ids: z.array(z.string()),
      haystack_sessions: z.array(
        z.array(z.object({ role: z.string(), content: z.string(), has_answer: z.boolean().nullish() })),
      ),
    })
    .refine(
      ({ haystack_session_ids, haystack_sessions }) =>
        haystack_session_ids.length === haystack_sessions.length,
      {
        path: ['haystack_session_ids'],
        error: 'expected one for each of haystack_sessions',
      },
    ),
)

/** Questions whose id ends with `_abs` ask for what was never said, and are left out. */
export function fromLongMemEval(item: z.output<typeof longMemEval>[number]): Collection {
  const docs = item.haystack_sessions.flatMap((turns, i) => {
    const session = item.haystack_session_ids[i] as string
    const time = parseTime(item.haystack_dates[i]?.replaceAll('/', '-'))
    return turns.map(({ role, content }, j) => ({
      id: `${session}:${j}`,
      session,
      time,
      text: `${role}: ${content}`,
    }))
  })
  const gold = item.haystack_sessions.flatMap((turns, i) =>
    turns.flatMap(({ has_answer }, j) => (has_answer ? `${item.haystack_session_ids[i]}:${j}` : [])),
  )
  const query = { id: item.question_id, text: item.question, gold, category: item.question_type }
  const isAnswered = gold.length > 0 && !item.question_id.endsWith('_abs')
  return { id: item.question_id, docs, queries: isAnswered ? [query] : [] }
}
