import { fakeEmbedder } from '@recall/embeddings'
import { importPeer, versions } from './outside.ts'
import { type Peer, textOf } from './peer.ts'

/** The part of vectra's `LocalIndex` that is used. */
interface LocalIndex {
  isIndexCreated(): Promise<boolean>
  createIndex(options: { version: number }): Promise<void>
  batchInsertItems(items: VectraItem[]): Promise<unknown>
  insertItem(item: VectraItem): Promise<unknown>
  queryItems(vector: number[], query: string, most: number): Promise<{ item: { id: string } }[]>
}

interface VectraItem {
  id: string
  vector: number[]
  metadata: { text: string }
}

export const vectra: Peer = {
  name: 'vectra',
  version: versions.vectra,
  settings:
    'vectors of 384 numbers made from words by a fake embedder, whose time is counted, as finding by vectors is all it does; `batchInsertItems`; it writes its whole index anew at every put, without syncing it',
  most: 10_000,
  limit: 'every put writes everything anew, as JSON: 81 MB at 10,000',
  async open(folder) {
    const { LocalIndex } = await importPeer<{ LocalIndex: new (folder: string) => LocalIndex }>('vectra')
    const index = new LocalIndex(folder)
    if (!(await index.isIndexCreated())) await index.createIndex({ version: 1 })
    const embedder = fakeEmbedder({ dimensions: 384 })
    const vectorsOf = async (texts: string[], mode: 'document' | 'query'): Promise<number[][]> =>
      (await embedder.embed(texts, mode)).map((vector) => [...vector])
    return {
      async putAll(documents) {
        const vectors = await vectorsOf(documents.map(textOf), 'document')
        await index.batchInsertItems(
          documents.map((each, i) => ({
            id: each.key,
            vector: vectors[i] as number[],
            metadata: { text: textOf(each) },
          })),
        )
      },
      async put(document) {
        const [vector] = (await vectorsOf([textOf(document)], 'document')) as [number[]]
        await index.insertItem({ id: document.key, vector, metadata: { text: textOf(document) } })
      },
      async search(text) {
        const [vector] = (await vectorsOf([text], 'query')) as [number[]]
        const found = await index.queryItems(vector, text, 10)
        return found.map(({ item }) => item.id)
      },
      async close() {},
    }
  },
}
