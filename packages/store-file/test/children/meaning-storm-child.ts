import { createMemoryManager } from '@recall/core'
import { createConceptEmbedder } from '@recall/core/conformance'
import { openFileStore } from '../../src/open-file-memory.ts'
import { seededRandom } from '../support/random.ts'

/**
 * Writes, deletes, searches by meaning and builds the index and the vectors anew, for ever and in an order that a seed
 * determines. Says when it has begun, and whatever goes wrong.
 */
const [root = '', namespace = '', seed = ''] = process.argv.slice(2)
const random = seededRandom(Number(seed))
const below = (count: number): number => Math.floor(random() * count)
const words = ['automobile', 'puppy', 'physician', 'storm', 'engine', 'hound', 'clinic', 'umbrella', 'lamp']
const sentence = (): string => Array.from({ length: 4 }, () => words[below(words.length)]).join(' ')
const embedder = createConceptEmbedder()
const store = await openFileStore({ root, embedder })
const memory = createMemoryManager({ stores: store, embedder, namespace })
process.send?.('begun')

/** Told after each call, so that the messages of this process are delivered. */
const breath = () => new Promise((resolve) => setImmediate(resolve))

for (;;) {
  const key = `${namespace} ${below(40)}`
  try {
    const call = below(20)
    if (call < 7) await memory.write('long-term', key, `${namespace}: ${sentence()}`)
    else if (call < 9) await memory.delete('long-term', key)
    else if (call < 10) store.reindex({ full: true })
    else {
      const found = await memory.search('long-term', { text: sentence() }, { limit: 20, touch: false })
      const strange = found.filter(({ value }) => !String(value).startsWith(`${namespace}: `))
      if (strange.length > 0) process.send?.(`${namespace} found ${JSON.stringify(strange)}`)
    }
  } catch (error) {
    process.send?.(`${namespace}: ${(error as Error).stack}`)
  }
  await breath()
}
