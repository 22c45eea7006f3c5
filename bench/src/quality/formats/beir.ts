import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { UsageError } from '../../options.ts'
import type { DataSet } from '../data-set.ts'

export function readBeir(folder: string): DataSet {
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
