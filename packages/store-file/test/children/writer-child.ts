import {
  conversationKey,
  conversationType,
  createMemoryManager,
  sessionSummaryKey,
  sessionSummaryType,
} from '@recall/core'
import { openFileStore } from '../../src/open-file-memory.ts'
import { archiveOf, sealedText, summaryOf } from '../support/storm-values.ts'

/** Writes a fixed set of entries of every kind as fast as it can. */
const [root = '', name = '', count = '0'] = process.argv.slice(2)
const memory = createMemoryManager({ stores: await openFileStore({ root }), redact: 'allow' })
const forGood = { ttl: Number.POSITIVE_INFINITY }

for (let n = 1; n <= Number(count); n++) {
  const id = `${name}-${n}`
  if (n % 20 === 0) {
    await memory.write('episodic', conversationKey(id), archiveOf(id, n), { type: conversationType })
  } else if (n % 20 === 5) {
    await memory.write('short-term', sessionSummaryKey(id), summaryOf(id, n), {
      type: sessionSummaryType,
      ...forGood,
    })
  } else if (n % 10 === 3) {
    await memory.write('long-term', `MEMORY.md#part-${id}`, sealedText(n, 50))
  } else {
    await memory.write('long-term', `note ${id}`, sealedText(n, 500))
  }
  if (n % 50 === 0) await memory.search('long-term', { text: 'lorem' })
}
await memory.close()
process.disconnect()
