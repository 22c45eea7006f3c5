import { join } from 'node:path'
import { fakeEmbedder } from '@recall/embeddings'
import { importPeer, versions } from './outside.ts'
import { type Peer, textOf } from './peer.ts'

/** The part of mem0's `Memory` that is used. */
interface Mem0 {
  add(text: string, options: { userId: string; metadata: { key: string }; infer: false }): Promise<unknown>
  search(
    text: string,
    options: { filters: { user_id: string }; topK: number; threshold: number },
  ): Promise<{ results: { metadata?: { key?: string } }[] }>
}

const userId = 'bench'

export const mem0: Peer = {
  name: 'mem0 OSS',
  version: versions.mem0ai,
  settings:
    'vectors of 384 numbers made from words by a fake embedder, whose time is counted; `infer: false`, so that no language model is asked (by default every add asks one); its own vector store in a file of SQLite, without history; it has no call for many memories, so one add each',
  most: 10_000,
  limit: 'every search looks at every row in JavaScript',
  async open(folder) {
    // mem0 reads these when it is loaded: nothing is reported to its makers, and nothing is kept in the home folder.
    Object.assign(process.env, { MEM0_TELEMETRY: 'false', MEM0_DIR: folder })
    const { Memory } = await importPeer<{ Memory: new (options: object) => Mem0 }>('mem0ai', 'mem0ai/oss')
    const embedder = fakeEmbedder({ dimensions: 384 })
    const embed = async (texts: string[], mode: 'document' | 'query'): Promise<number[][]> =>
      (await embedder.embed(texts, mode)).map((vector) => [...vector])
    const model = {
      embedDocuments: (texts: string[]) => embed(texts, 'document'),
      embedQuery: async (text: string) => (await embed([text], 'query'))[0],
    }
    const memory = new Memory({
      embedder: { provider: 'langchain', config: { model, embeddingDims: 384 } },
      vectorStore: {
        provider: 'memory',
        config: { collectionName: 'bench', dimension: 384, dbPath: join(folder, 'vectors.db') },
      },
      llm: { provider: 'openai', config: { apiKey: 'none: no model is asked' } },
      disableHistory: true,
    })
    const put = async (key: string, text: string): Promise<void> => {
      await memory.add(text, { userId, metadata: { key }, infer: false })
    }
    return {
      async putAll(documents) {
        for (const document of documents) await put(document.key, textOf(document))
      },
      put: (document) => put(document.key, textOf(document)),
      async search(text) {
        const { results } = await memory.search(text, {
          filters: { user_id: userId },
          topK: 10,
          threshold: 0,
        })
        return results.map(({ metadata }) => metadata?.key ?? '')
      },
      async close() {},
    }
  },
}
