import { createMemoryManager } from '@recall/core'
import { openFileStore } from '@recall/store-file'

/** Opens a memory with an unfit index, which rebuilds it, writes and searches, until it is killed. */
const [root = '', name = ''] = process.argv.slice(2)
process.send?.('ready')
const memory = createMemoryManager({ stores: await openFileStore({ root }), redact: 'allow' })
for (let n = 1; ; n++) {
  await memory.search('long-term', { text: 'lighthouse' })
  await memory.write('long-term', `new ${name}-${n % 5}`, 'A ferry came.')
}
