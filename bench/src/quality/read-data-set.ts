import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { UsageError } from '../options.ts'
import type { DataSet, Query } from './data-set.ts'
import { readBeam } from './formats/beam.ts'
import { readBeir } from './formats/beir.ts'
import { fromLocomo, fromLocomoWithFacts, type Locomo } from './formats/locomo.ts'
import { fromLongMemEval, type LongMemEval } from './formats/long-mem-eval.ts'
import { parseTime } from './formats/parse-time.ts'
import { fromSquad, type Squad } from './formats/squad.ts'

/**
 * Reads a data set: our own form (`{ name, collections }`), LoCoMo's `locomo10.json`, a LongMemEval file, one of SQuAD's
 * kind, a folder of BEAM's chats, or a folder in BEIR's form (`corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`).
 *
 * @param facts read every second session of LoCoMo as the facts that were noted of it
 * @throws UsageError that says what was expected
 */
export function readDataSet(path: string, { facts = false } = {}): DataSet {
  const set = facts ? readFacts(path) : isFolder(path) ? readFolder(path) : readFile(path)
  if (set.collections.some(({ queries }) => queries.length > 0)) return set
  throw new UsageError(`${path} holds no question with evidence in it.`)
}

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory()

function readFolder(folder: string): DataSet {
  const chats = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'chat.json')))
  return chats.length > 0 ? readBeam(folder, chats) : readBeir(folder)
}

function readFile(path: string): DataSet {
  const name = nameOf(path)
  const json = readJson(path)
  if (isOwn(json)) return completed({ ...json, name: json.name ?? name })
  if (isLocomo(json)) return { name, collections: json.map(fromLocomo) }
  const [first] = Array.isArray(json) ? json : []
  if (first?.haystack_sessions) return { name, collections: (json as LongMemEval[]).map(fromLongMemEval) }
  if (json !== null && Array.isArray((json as Squad).data))
    return { name, collections: [fromSquad(json as Squad, name)] }
  throw new UsageError(
    `${path} is no data set: expected { collections }, LoCoMo, LongMemEval, SQuAD, or a folder of BEAM or BEIR.`,
  )
}

function readFacts(path: string): DataSet {
  const json = isFolder(path) ? null : readJson(path)
  if (isLocomo(json) && json.every(({ observation }) => observation))
    return { name: `${nameOf(path)}-facts`, collections: json.map(fromLocomoWithFacts) }
  throw new UsageError(`${path} has no observations of LoCoMo, which --facts reads.`)
}

const nameOf = (path: string): string => basename(path).replace(/\.json$/, '')

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new UsageError(`${path} cannot be read as JSON: ${(error as Error).message}.`)
  }
}

const isLocomo = (json: unknown): json is Locomo[] =>
  Array.isArray(json) && Boolean(json[0]?.conversation && json[0].qa)

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
