import { appendFile } from 'node:fs/promises'
import { openFileMemory } from '@recall/store-file'

const memory = await openFileMemory({ root: 'team', create: true })
await memory.write('long-term', 'MEMORY.md#people', 'Jonas runs payments.')

// A person edits the file, in any editor, also while it is open here.
await appendFile('team/memory/MEMORY.md', '\n## Deploys\n\nDeploys are frozen on Fridays.\n')

const [found] = await memory.search('long-term', { text: 'when can we deploy' })
console.log(found?.value) // found.key is MEMORY.md#deploys

await memory.close()
