import { z } from 'zod'
import type { Collection, Doc } from '../data-set.ts'
import { parseTime } from './parse-time.ts'

const turn = z.object({
  speaker: z.string(),
  dia_id: z.string(),
  text: z.string(),
  blip_caption: z.string().nullish(),
})

/** Apart from its sessions and their times, a conversation may hold anything. */
const conversation = z
  .record(z.string(), z.unknown())
  .transform((whole) =>
    Object.fromEntries(Object.entries(whole).filter(([key]) => /^session_\d+(?:_date_time)?$/.test(key))),
  )
  .pipe(
    z.record(
      z.string(),
      z.union([z.string(), z.array(turn)], { error: 'expected the turns of a session, or its time' }),
    ),
  )

export const locomo = z.array(
  z.object({
    sample_id: z.string(),
    conversation,
    qa: z.array(
      z.object({
        question: z.string(),
        evidence: z.array(z.string()),
        category: z.union([z.number(), z.string()]),
      }),
    ),
    /** The authors' notes on each session: by speaker, each fact with the turns that say it. */
    observation: z
      .record(
        z.string(),
        z.record(z.string(), z.array(z.tuple([z.string(), z.union([z.string(), z.array(z.string())])]))),
      )
      .optional(),
  }),
)

type Locomo = z.output<typeof locomo>[number]

/** Adversarial questions (category 5) ask for what was never said, and are left out. */
export function fromLocomo(sample: Locomo): Collection {
  const docs = sessionsOf(sample).flatMap((session) => turnsOf(sample, session))
  const ids = new Set(docs.map(({ id }) => id))
  const queries = questionsOf(sample).map(({ evidence, ...query }) => ({
    ...query,
    gold: evidence.filter((id) => ids.has(id)),
  }))
  return { id: sample.sample_id, docs, queries: queries.filter(({ gold }) => gold.length > 0) }
}

/**
 * A memory of sessions and of notes: every second session is present only as the facts that the authors noted. The
 * category of a question says where its evidence is; a question whose evidence nobody noted is left out.
 */
export function fromLocomoWithFacts(sample: Locomo): Collection {
  const sessions = sessionsOf(sample)
  const turns = sessions.filter((_, i) => i % 2 === 0).flatMap((session) => turnsOf(sample, session))
  const facts = sessions.filter((_, i) => i % 2 === 1).flatMap((session) => factsOf(sample, session))
  const sources = new Map<string, string[]>(turns.map(({ id }) => [id, [id]]))
  for (const { id, evidence } of facts)
    for (const turn of evidence) sources.set(turn, [...(sources.get(turn) ?? []), id])
  const queries = questionsOf(sample)
    .filter(({ evidence }) => evidence.length > 0 && evidence.every((id) => sources.has(id)))
    .map(({ evidence, ...query }) => {
      const gold = [...new Set(evidence.flatMap((id) => sources.get(id) ?? []))]
      const inTurns = gold.filter((id) => id.startsWith('D')).length
      const category = inTurns === 0 ? 'facts' : inTurns === gold.length ? 'turns' : 'both'
      return { ...query, gold, category }
    })
  const notes = facts.map(({ evidence, ...doc }) => doc)
  return { id: sample.sample_id, docs: [...turns, ...notes], queries }
}

const sessionsOf = ({ conversation }: Locomo): string[] =>
  Object.keys(conversation).filter((key) => /^session_\d+$/.test(key))

const turnsOf = ({ conversation }: Locomo, session: string): Doc[] =>
  (conversation[session] as z.output<typeof turn>[]).map(({ speaker, dia_id, text, blip_caption }) => ({
    id: dia_id,
    session,
    time: parseTime(conversation[`${session}_date_time`] as string),
    text: `${speaker}: ${text}${blip_caption ? ` [shares photo: ${blip_caption}]` : ''}`,
  }))

const factsOf = ({ observation }: Locomo, session: string): (Doc & { evidence: string[] })[] =>
  Object.values(observation?.[`${session}_observation`] ?? {})
    .flat()
    .map(([text, evidence], i) => ({
      id: `${session} fact ${i}`,
      session: null,
      time: null,
      text,
      evidence: turnsNamed([evidence].flat()),
    }))

const questionsOf = ({ sample_id, qa }: Locomo) =>
  qa
    .filter(({ category }) => String(category) !== '5')
    .map(({ question, evidence, category }, i) => ({
      id: `${sample_id}#${i}`,
      text: question,
      evidence: turnsNamed(evidence),
      category: String(category),
    }))

/** Some entries name two turns in one string, some with a zero too many. */
const turnsNamed = (evidence: readonly string[]): string[] => [
  ...new Set(
    evidence.flatMap((text) => text.match(/D\d+:\d+/g) ?? []).map((id) => id.replace(/:0+(?=\d)/, ':')),
  ),
]
