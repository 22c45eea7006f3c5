import { openFileMemory } from '@recall/store-file'

const memory = await openFileMemory({ root: 'ana', create: true })

await memory.write('long-term', 'preferences', 'Ana prefers tabs, short answers and Fridays off.', {
  tags: ['people'],
})

const [found] = await memory.search('long-term', { text: 'what does she prefer' })
console.log(found?.value) // the whole memory; found.passage says in which file and line it stands

await memory.close()
