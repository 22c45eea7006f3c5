import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFileMemory } from '@recall/store-file'
import { findPrice } from './agent.ts'
import { openSite } from './site.ts'

const root = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'price-agent-'))

for (const [run, item] of ['kettle', 'kettle', 'toaster'].entries()) {
  // Opened anew each time, as another process would: only what is on disk is remembered.
  const memory = await openFileMemory({ root, create: true })
  const { price, pages } = await findPrice(memory, openSite(), item)
  process.stdout.write(`run ${run + 1}: a ${item} costs ${price} (${pages} page${pages === 1 ? '' : 's'})\n`)
  await memory.close()
}
process.stdout.write(`what it learned is in ${root}\n`)
