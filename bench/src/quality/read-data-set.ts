import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { UsageError } from '../options.ts'
import { checkedDataSet } from './checked-data-set.ts'
import type { DataSet } from './data-set.ts'
import { readBeam } from './formats/beam.ts'
import { readBeir } from './formats/beir.ts'
import { fromLocomo, fromLocomoWithFacts, locomo } from './formats/locomo.ts'
import { fromLongMemEval, longMemEval } from './formats/long-mem-eval.ts'
import { fromOwn, own } from './formats/own.ts'
import { fromSquad, squad } from './formats/squad.ts'
import { parseAs, readJson } from './parse-as.ts'

/**
 * Reads a data set: our own form (`{ name, collections }`), LoCoMo's `locomo10.json`, a LongMemEval file, one like
 * SQuAD, a folder of BEAM's chats, or a folder in BEIR's form (`corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`).
 *
 * @param facts read every second session of LoCoMo as the facts that were noted of it
 * @throws UsageError that says what was expected
 */
export function readDataSet(path: string, { facts = false } = {}): DataSet {
  const set = facts ? readFacts(path) : isFolder(path) ? readFolder(path) : readFile(path)
  return checkedDataSet(set, path)
}

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory()

function readFolder(folder: string): DataSet {
  const chats = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'chat.json')))
  return chats.length > 0 ? readBeam(folder, chats) : readBeir(folder)
}

function readFile(path: string): DataSet {
  const name = nameOf(path)
  const json = readJson(path)
  if (has(json, 'collections')) {
    const { name: given = name, collections } = parseAs(own, json, path, 'our own form')
    return { name: given, collections: fromOwn(collections) }
  }
  if (isLocomo(json)) return { name, collections: parseAs(locomo, json, path, 'LoCoMo').map(fromLocomo) }
  if (has(firstOf(json), 'haystack_sessions'))
    return { name, collections: parseAs(longMemEval, json, path, 'LongMemEval').map(fromLongMemEval) }
  if (has(json, 'data')) return { name, collections: [fromSquad(parseAs(squad, json, path, 'SQuAD'), name)] }
  throw new UsageError(
    `${path} is not a data set: expected { collections }, LoCoMo, LongMemEval, SQuAD, or a folder of BEAM or BEIR.`,
  )
}

function readFacts(path: string): DataSet {
  const json = isFolder(path) ? null : readJson(path)
  const samples = isLocomo(json) ? parseAs(locomo, json, path, 'LoCoMo') : []
  if (samples.length > 0 && samples.every(({ observation }) => observation))
    return { name: `${nameOf(path)}-facts`, collections: samples.map(fromLocomoWithFacts) }
  throw new UsageError(`${path} has no observations of LoCoMo, which --facts reads.`)
}

const nameOf = (path: string): string => basename(path).replace(/\.json$/, '')

const has = (json: unknown, member: string): boolean =>
  typeof json === 'object' && json !== null && Object.hasOwn(json, member)

const firstOf = (json: unknown): unknown => (Array.isArray(json) ? json[0] : undefined)

const isLocomo = (json: unknown): boolean => has(firstOf(json), 'conversation') && has(firstOf(json), 'qa')
