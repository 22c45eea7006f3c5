import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { UsageError } from '../../options.ts'
import type { Collection, DataSet, Doc } from '../data-set.ts'
import { parseTime } from './parse-time.ts'

interface BeamBatch {
  batch_number: number
  turns: { id: number; role: string; content: string; time_anchor?: string }[][]
}

type BeamQuestions = Record<string, { question: string; source_chat_ids?: unknown }[]>

/** Kinds that ask for certain turns, not for a whole chat, for how to answer, or for what was never said. */
const beamKinds = [
  'information_extraction',
  'knowledge_update',
  'multi_session_reasoning',
  'temporal_reasoning',
  'contradiction_resolution',
]

export function readBeam(folder: string, chats: readonly string[]): DataSet {
  const json = (...names: string[]): unknown => {
    const path = join(folder, ...names)
    if (!existsSync(path)) throw new UsageError(`${path} is missing: a folder of BEAM's chats has it.`)
    return JSON.parse(readFileSync(path, 'utf8'))
  }
  const collections = chats.map((id): Collection => {
    const docs = (json(id, 'chat.json') as BeamBatch[]).flatMap(fromBeamBatch)
    const ids = new Set(docs.map((doc) => doc.id))
    const questions = json(id, 'probing_questions', 'probing_questions.json') as BeamQuestions
    const queries = beamKinds.flatMap((category) =>
      (questions[category] ?? []).map(({ question, source_chat_ids }, i) => ({
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
function fromBeamBatch({ batch_number, turns }: BeamBatch): Doc[] {
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
