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
  const set = existsSync(path) && statSync(path).isDirectory() ? readFolder(path) : readFile(path, facts)
  if (set.collections.some(({ queries }) => queries.length > 0)) return set
  throw new UsageError(`${path} holds no question with evidence in it.`)
}

function readFolder(folder: string): DataSet {
  const chats = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'chat.json')))
  return chats.length > 0 ? readBeam(folder, chats) : readBeir(folder)
}

function readFile(path: string, facts: boolean): DataSet {
  const name = basename(path).replace(/\.json$/, '')
  let json: unknown
  try {
    json = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new UsageError(`${path} cannot be read as JSON: ${(error as Error).message}.`)
  }
  if (isOwn(json)) return completed({ ...json, name: json.name ?? name })
  const [first] = Array.isArray(json) ? json : []
  if (first?.conversation && first.qa) {
    const samples = json as Locomo[]
    if (facts && samples.some(({ observation }) => !observation))
      throw new UsageError(`${path} has no observations, which --facts reads.`)
    return facts
      ? { name: `${name}-facts`, collections: samples.map(fromLocomoWithFacts) }
      : { name, collections: samples.map(fromLocomo) }
  }
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
