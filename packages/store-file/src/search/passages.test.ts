import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryRoot } from '../../test/temporary-root.ts'
import { openFileStore } from '../open-file-memory.ts'

/** A topic file of three sections too long for one unit each, every line with a word of its own. */
const topic = (word: string): string =>
  ['one', 'two', 'three']
    .map((part) => `## ${word} ${part}\n\n${lines(`${word}${part}`).join('\n')}\n`)
    .join('\n')
const lines = (word: string): string[] =>
  Array.from({ length: 90 }, (_, i) => `- ${word}x${i}: what was learned of ${word} on day ${i} of the work.`)

test('the neighbours of a passage are of its own document', async () => {
  const root = temporaryRoot()
  const folder = join(root, 'memory')
  mkdirSync(folder, { recursive: true })
  for (const word of ['alder', 'birch', 'cedar']) writeFileSync(join(folder, `${word}.md`), topic(word))
  const store = await openFileStore({ root })
  const now = Date.now()
  for (const word of ['alder', 'birch', 'cedar']) {
    for (const part of ['one', 'two', 'three']) {
      for (const i of [0, 45, 89]) {
        const text = `${word}${part}x${i}`
        const order = { sortBy: 'relevance', sortOrder: 'desc', offset: 0, limit: 3, minScore: 0 } as const
        const [hit] = store.locate({ ...order, text, namespace: 'default', now }, ['long-term'])
        expect(hit?.text).toContain(text)
        for (const neighbour of hit?.neighbours ?? []) expect(neighbour).toContain(`${word}${part}`)
      }
    }
  }
  await store.close()
})
