import type { Collection } from '../data-set.ts'
import { parseTime } from './parse-time.ts'

export interface Locomo {
  sample_id: string
  conversation: Record<string, unknown>
  qa: { question: string; evidence: string[]; category: number }[]
}

interface LocomoTurn {
  speaker: string
  dia_id: string
  text: string
  blip_caption?: string
}

/** Adversarial questions (category 5) ask for what was never said, and are left out. */
export function fromLocomo({ sample_id, conversation, qa }: Locomo): Collection {
  const docs = Object.keys(conversation)
    .filter((key) => /^session_\d+$/.test(key))
    .flatMap((session) =>
      (conversation[session] as LocomoTurn[]).map(({ speaker, dia_id, text, blip_caption }) => ({
        id: dia_id,
        session,
        time: parseTime(conversation[`${session}_date_time`] as string),
        text: `${speaker}: ${text}${blip_caption ? ` [shares photo: ${blip_caption}]` : ''}`,
      })),
    )
  const ids = new Set(docs.map(({ id }) => id))
  const queries = qa
    .filter(({ category }) => category !== 5)
    .map(({ question, evidence, category }, i) => ({
      id: `${sample_id}#${i}`,
      text: question,
      // Some name two turns in one string, some with a zero too many.
      gold: [...new Set(evidence.flatMap((text) => text.match(/D\d+:\d+/g) ?? []).map(plainId))].filter(
        (id) => ids.has(id),
      ),
      category: String(category),
    }))
  return { id: sample_id, docs, queries: queries.filter(({ gold }) => gold.length > 0) }
}

const plainId = (id: string): string => id.replace(/:0+(?=\d)/, ':')
