import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { create, insert, insertMultiple, load, save, search } from '@orama/orama'
import { writeDurably } from '../durable-file.ts'
import { type Peer, textOf } from './peer.ts'

export const orama: Peer = {
  name: 'Orama',
  version: '3.1',
  settings: 'English tokeniser with stemming, BM25; kept by its own JSON dump of everything, synced',
  most: 10_000,
  limit: 'its dump of 100,000 is longer than the longest string of V8',
  async open(folder) {
    const path = join(folder, 'index.json')
    const index = create({
      schema: { body: 'string' } as const,
      components: { tokenizer: { language: 'english', stemming: true } },
    })
    if (existsSync(path)) load(index, JSON.parse(readFileSync(path, 'utf8')))
    const store = (): void => writeDurably(path, JSON.stringify(save(index)))
    return {
      async putAll(documents) {
        await insertMultiple(
          index,
          documents.map((document) => ({ id: document.key, body: textOf(document) })),
          1000,
        )
        store()
      },
      async put(document) {
        await insert(index, { id: document.key, body: textOf(document) })
        store()
      },
      async search(text) {
        const { hits } = await search(index, { term: text, limit: 10 })
        return hits.map(({ id }) => id)
      },
      async close() {},
    }
  },
}
