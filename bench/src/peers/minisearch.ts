import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import MiniSearch from 'minisearch'
import { writeDurably } from '../durable-file.ts'
import { type Peer, textOf } from './peer.ts'

const options = { idField: 'key', fields: ['body'], storeFields: ['body'] }
const search = { combineWith: 'AND' } as const

export const minisearch: Peer = {
  name: 'minisearch',
  version: '7.2',
  settings:
    'all words first, any word when that finds fewer than ten, as Recall does; the texts are stored, so that they can be given back; kept by its own JSON dump of everything, synced',
  async open(folder) {
    const path = join(folder, 'index.json')
    const index = existsSync(path)
      ? MiniSearch.loadJSON(readFileSync(path, 'utf8'), options)
      : new MiniSearch(options)
    const save = (): void => writeDurably(path, JSON.stringify(index))
    return {
      async putAll(documents) {
        index.addAll(documents.map((document) => ({ key: document.key, body: textOf(document) })))
        save()
      },
      async put(document) {
        index.add({ key: document.key, body: textOf(document) })
        save()
      },
      async search(text) {
        let found = index.search(text, search)
        if (found.length < 10) found = index.search(text)
        return found.slice(0, 10).map(({ id }) => id as string)
      },
      async close() {},
    }
  },
}
