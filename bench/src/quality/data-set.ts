import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { UsageError } from '../options.ts'

/** Documents and questions with known evidence. */
export interface DataSet {
  name: string
  collections: Collection[]
}

/** One memory: what one person or team would keep. */
export interface Collection {
  id: string
  docs: Doc[]
  queries: Query[]
}

export interface Doc {
  id: string
  /** The conversation it is a turn of, if it is one; turns stand in order. */
  session: string | null
  /** ISO 8601. */
  time: string | null
  text: string
}

export interface Query {
  id: string
  text: string
  /** Documents that answer it. */
  gold: string[]
  category: string
}

/**
 * Reads a data set: our own form (`{ name, collections }`), LoCoMo's `locomo10.json`, a LongMemEval file, a folder of
 * BEAM's chats, or a folder in BEIR's form (`corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`).
 *
 * @throws UsageError that says what was expected
 */
export function readDataSet(path: string): DataSet {
  const set = existsSync(path) && statSync(path).isDirectory() ? readFolder(path) : readFile(path)
  if (set.collections.some(({ queries }) => queries.length > 0)) return set
  throw new UsageError(`${path} holds no question with evidence in it.`)
}

/** All collections of some data sets as one memory, in which each question has everything else to be lost among. */
export function together(sets: readonly DataSet[]): DataSet {
  const collections = sets.flatMap(({ name, collections }) =>
    collections.map((collection) => prefixed(collection, `${name}/${collection.id}/`)),
  )
  return {
    name: 'together',
    collections: [
      {
        id: 'together',
        docs: collections.flatMap(({ docs }) => docs),
        queries: collections.flatMap(({ queries }) => queries),
      },
    ],
  }
}

const prefixed = ({ id, docs, queries }: Collection, prefix: string): Collection => ({
  id,
  docs: docs.map((doc) => ({
    ...doc,
    id: prefix + doc.id,
    session: doc.session === null ? null : prefix + doc.session,
  })),
  queries: queries.map((query) => ({
    ...query,
    id: prefix + query.id,
    gold: query.gold.map((gold) => prefix + gold),
  })),
})

function readFolder(folder: string): DataSet {
  const chats = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'chat.json')))
  return chats.length > 0 ? readBeam(folder, chats) : readBeir(folder)
}

function readFile(path: string): DataSet {
  const name = basename(path).replace(/\.json$/, '')
  let json: unknown
  try {
    json = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new UsageError(`${path} cannot be read as JSON: ${(error as Error).message}.`)
  }
  if (isOwn(json)) return completed({ ...json, name: json.name ?? name })
  const [first] = Array.isArray(json) ? json : []
  if (first?.conversation && first.qa) return { name, collections: (json as Locomo[]).map(fromLocomo) }
  if (first?.haystack_sessions) return { name, collections: (json as LongMemEval[]).map(fromLongMemEval) }
  throw new UsageError(
    `${path} is no data set: expected { collections }, LoCoMo, LongMemEval, or a folder of BEAM or BEIR.`,
  )
}

const isOwn = (json: unknown): json is DataSet =>
  typeof json === 'object' && json !== null && Array.isArray((json as DataSet).collections)

/** The form allows any way of writing a time, and to leave out what is not there. */
function completed({ name, collections }: DataSet): DataSet {
  return {
    name,
    collections: collections.map((collection) => ({
      ...collection,
      docs: collection.docs.map((doc) => ({
        ...doc,
        session: doc.session ?? null,
        time: parseTime(doc.time),
      })),
      queries: collection.queries
        .filter(({ gold = [] }: Partial<Query>) => gold.length > 0)
        .map((query) => ({ ...query, category: query.category ?? 'all' })),
    })),
  }
}

/** `1:56 pm on 8 May, 2023`, `29.12.2023, 22:42:04`, and whatever the language itself reads. */
export function parseTime(text: string | null | undefined): string | null {
  if (!text) return null
  const spoken = /^(\d+):(\d+) (am|pm) on (.+)$/i.exec(text)
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(.*)$/.exec(text)
  const plain = spoken
    ? `${spoken[4]} ${(Number(spoken[1]) % 12) + (spoken[3]?.toLowerCase() === 'pm' ? 12 : 0)}:${spoken[2]}`
    : dotted
      ? `${dotted[3]}-${dotted[2]}-${dotted[1]}${dotted[4]?.replace(',', '')}`
      : text.replace(/ \(\w+\) /, ' ')
  const time = new Date(/[zZ]|[+-]\d\d:?\d\d$/.test(plain) ? plain : `${plain} UTC`)
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}

interface Locomo {
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
function fromLocomo({ sample_id, conversation, qa }: Locomo): Collection {
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

interface LongMemEval {
  question_id: string
  question: string
  question_type: string
  haystack_dates: string[]
  haystack_session_ids: string[]
  haystack_sessions: { role: string; content: string; has_answer?: boolean }[][]
}

/** Questions whose id ends with `_abs` ask for what was never said, and are left out. */
function fromLongMemEval(item: LongMemEval): Collection {
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

function readBeam(folder: string, chats: readonly string[]): DataSet {
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

function readBeir(folder: string): DataSet {
  const lines = (name: string): string[] => {
    const path = join(folder, name)
    if (!existsSync(path)) throw new UsageError(`${path} is missing: a BEIR folder has it.`)
    return readFileSync(path, 'utf8').split('\n').filter(Boolean)
  }
  const parse = (line: string): { _id: string; title?: string; text: string } => JSON.parse(line)
  const gold = new Map<string, string[]>()
  for (const line of lines('qrels/test.tsv').slice(1)) {
    const [query = '', doc = '', score] = line.split('\t')
    if (Number(score) > 0) gold.set(query, [...(gold.get(query) ?? []), doc])
  }
  const docs = lines('corpus.jsonl').map((line) => {
    const { _id, title, text } = parse(line)
    return { id: _id, session: null, time: null, text: title ? `${title}\n\n${text}` : text }
  })
  const queries = lines('queries.jsonl').flatMap((line) => {
    const { _id, text } = parse(line)
    const own = gold.get(_id)
    return own ? { id: _id, text, gold: own, category: 'all' } : []
  })
  return { name: basename(folder), collections: [{ id: basename(folder), docs, queries }] }
}
