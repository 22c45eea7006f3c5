import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { UsageError } from '../options.ts'
import { readBeam } from './formats/beam.ts'
import { readBeir } from './formats/beir.ts'
import { fromLocomo, type Locomo } from './formats/locomo.ts'
import { fromLongMemEval, type LongMemEval } from './formats/long-mem-eval.ts'
import { parseTime } from './formats/parse-time.ts'
import { fromSquad, type Squad } from './formats/squad.ts'

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
 * Reads a data set: our own form (`{ name, collections }`), LoCoMo's `locomo10.json`, a LongMemEval file, one of SQuAD's
 * kind, a folder of BEAM's chats, or a folder in BEIR's form (`corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`).
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
  if (json !== null && Array.isArray((json as Squad).data))
    return { name, collections: [fromSquad(json as Squad, name)] }
  throw new UsageError(
    `${path} is no data set: expected { collections }, LoCoMo, LongMemEval, SQuAD, or a folder of BEAM or BEIR.`,
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
