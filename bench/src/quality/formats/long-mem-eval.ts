import type { Collection } from '../data-set.ts'
import { parseTime } from './parse-time.ts'

export interface LongMemEval {
  question_id: string
  question: string
  question_type: string
  haystack_dates: string[]
  haystack_session_ids: string[]
  haystack_sessions: { role: string; content: string; has_answer?: boolean }[][]
}

/** Questions whose id ends with `_abs` ask for what was never said, and are left out. */
export function fromLongMemEval(item: LongMemEval): Collection {
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
