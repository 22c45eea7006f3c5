import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { UsageError } from '../../options.ts'
import type { Collection, DataSet, Doc } from '../data-set.ts'
import { parseAs, readJson } from '../parse-as.ts'
import { parseTime } from './parse-time.ts'

const turn = z.object({
  id: z.number(),
  role: z.string(),
  content: z.string(),
  time_anchor: z.string().nullish(),
})
const batch = z.object({ batch_number: z.number(), turns: z.array(z.array(turn)) })

const questions = z.array(z.object({ question: z.string(), source_chat_ids: z.unknown() })).optional()
/**
 * The kinds of questions that ask for certain turns, not for a whole chat, for how to answer, or for what was never
 * said.
 */
const beamQuestions = z.object({
  information_extraction: questions,
  knowledge_update: questions,
  multi_session_reasoning: questions,
  temporal_reasoning: questions,
  contradiction_resolution: questions,
})

export function readBeam(folder: string, chats: readonly string[]): DataSet {
  const json = <Schema extends z.ZodType>(schema: Schema, ...names: string[]): z.output<Schema> => {
    const path = join(folder, ...names)
    if (!existsSync(path)) throw new UsageError(`${path} is missing: a folder of BEAM's chats has it.`)
    return parseAs(schema, readJson(path), path, 'BEAM')
  }
  const collections = chats.map((id): Collection => {
    const docs = json(z.array(batch), id, 'chat.json').flatMap(fromBeamBatch)
    const ids = new Set(docs.map((doc) => doc.id))
    const asked = json(beamQuestions, id, 'probing_questions', 'probing_questions.json')
    const queries = Object.entries(asked).flatMap(([category, questions = []]) =>
      questions.map(({ question, source_chat_ids }, i) => ({
        id: `${id}#${category}#${i}`,
        text: question,
        gold: [...new Set(numbersIn(source_chat_ids).map(String))].filter((turn) => ids.has(turn)),
        category,
      })),
    )
    return { id, docs, queries: queries.filter(({ gold }) => gold.length > 0) }
  })
  return { name: `beam-${basename(folder).toLowerCase()}`, collections }
}

/** The person's turns end with a mark of where the authors planned them. */
function fromBeamBatch({ batch_number, turns }: z.output<typeof batch>): Doc[] {
  let time: string | null = null
  return turns.flat().map(({ id, role, content, time_anchor }) => {
    time = parseTime(time_anchor) ?? time
    const text = `${role}: ${content.replace(/\s*->->[\d\s,N/A]*$/, '')}`
    return { id: `${id}`, session: `batch ${batch_number}`, time, text }
  })
}

/** The numbers in nested lists and objects. */
const numbersIn = (value: unknown): number[] =>
  typeof value === 'number' ? [value] : Object.values(value ?? {}).flatMap(numbersIn)
