import { openFileMemory } from '@recall/store-file'
import { type Peer, textOf } from './peer.ts'

const batchSize = 1000

export const recall: Peer = {
  name: 'Recall',
  version: 'this commit',
  settings:
    'file store, words alone, defaults: secrets are replaced; each memory is a markdown file, and every put is synced (file and folder) before it returns; batches of 1,000',
  async open(folder) {
    const memory = await openFileMemory({ root: folder, create: true })
    return {
      async putAll(documents) {
        for (let i = 0; i < documents.length; i += batchSize) {
          await memory.batchWrite(
            'long-term',
            documents
              .slice(i, i + batchSize)
              .map((document) => ({ key: document.key, value: textOf(document) })),
          )
        }
      },
      put: (document) => memory.write('long-term', document.key, textOf(document)),
      async search(text) {
        const found = await memory.search('long-term', { text }, { touch: false })
        return found.map(({ key }) => key)
      },
      close: () => memory.close(),
    }
  },
}
