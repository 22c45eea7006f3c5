import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { UsageError } from '../../options.ts'
import type { DataSet } from '../data-set.ts'
import { parseAs } from '../parse-as.ts'

const text = z.object({ _id: z.string(), title: z.string().nullish(), text: z.string() })

export function readBeir(folder: string): DataSet {
  const lines = (name: string): string[] => {
    const path = join(folder, name)
    if (!existsSync(path)) throw new UsageError(`${path} is missing: a BEIR folder has it.`)
    return readFileSync(path, 'utf8').split('\n')
  }
  const textsIn = (name: string): z.output<typeof text>[] =>
    lines(name).flatMap((line, i) => (line ? [parseLine(line, `${join(folder, name)}, line ${i + 1},`)] : []))
  const gold = new Map<string, string[]>()
  for (const line of lines('qrels/test.tsv').slice(1)) {
    const [query = '', doc = '', score] = line.split('\t')
    if (Number(score) > 0) gold.set(query, [...(gold.get(query) ?? []), doc])
  }
  const docs = textsIn('corpus.jsonl').map(({ _id, title, text }) => ({
    id: _id,
    session: null,
    time: null,
    text: title ? `${title}\n\n${text}` : text,
  }))
  const queries = textsIn('queries.jsonl').flatMap(({ _id, text }) => {
    const own = gold.get(_id)
    return own ? { id: _id, text, gold: own, category: 'all' } : []
  })
  return { name: basename(folder), collections: [{ id: basename(folder), docs, queries }] }
}

function parseLine(line: string, place: string): z.output<typeof text> {
  try {
    return parseAs(text, JSON.parse(line), place, 'BEIR')
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new UsageError(`${place} cannot be read as JSON: ${error.message}.`)
  }
}
