import { mkdirSync } from 'node:fs'
import { conversationKey, conversationType, createMemoryManager } from '@recall/core'
import { wordsOf } from '@recall/core/ranking'
import { openFileStore } from '../src/open-file-memory.ts'

/**
 * Writes what tests of later versions open: run it in a checkout of the version that shall have written it, with the
 * folder `fixtures/<name>` of this one for its argument.
 */
const root = process.argv[2] as string
mkdirSync(root, { recursive: true })
const words = ['lighthouse', 'harbour', 'ferry', 'tide']
const embedder = {
  model: 'four-words',
  dimensions: 4,
  embed: async (texts: readonly string[]) =>
    texts.map((text) => {
      const said = new Set(wordsOf(text).map(({ start, end }) => text.slice(start, end).toLowerCase()))
      const vector = words.map((word) => (said.has(word) ? 1 : 0.1))
      const length = Math.hypot(...vector)
      return Float32Array.from(vector, (x) => x / length)
    }),
}
const stores = await openFileStore({ root, embedder })
const memory = createMemoryManager({ stores, embedder })
await memory.write('long-term', 'note', 'The lighthouse stands at the harbour.', { tags: ['sea'] })
await memory.write('long-term', 'list', { ferries: ['one', 'two'], at: 'the ferry' })
await memory.write('long-term', 'MEMORY.md#tides', 'The tide turns at noon.')
await memory.write(
  'episodic',
  conversationKey('s1'),
  {
    date: '2026-01-01T00:00:00.000Z',
    sessionId: 's1',
    messageCount: 2,
    duration: '1m',
    source: 'session',
    topics: ['ferry'],
    body: '## Summary\n\nThe ferry was late.\n\n### User\n\nWhere is it?\n\n### Assistant\n\nAt the harbour.\n',
  },
  { type: conversationType },
)
await memory.search('long-term', { text: 'harbour' })
await memory.read('long-term', 'note')
await memory.close()
