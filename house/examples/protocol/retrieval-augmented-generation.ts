import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { retrieveContext } from '@recall/core/protocol'

const memory = createMemoryManager({ stores: createInMemoryStore() })

await memory.write('long-term', 'playbook:1', { type: 'playbook', text: 'Scrape pages one by one' })
await memory.write('episodic', 'episode:1', { outcome: 'success', text: 'scraped forty pages' })
await memory.write('short-term', 'now', 'The user is in a hurry', { tags: ['context', 'session'] })

const bundle = await retrieveContext(memory, { description: 'scrape all pages' }, { maxTokens: 500 })
console.log(bundle.playbooks) // [ { type: 'playbook', text: 'Scrape pages one by one' } ]
console.log(bundle.similarEpisodes.length, bundle.recentContext) // 1 [ 'The user is in a hurry' ]
console.log(bundle.relevanceScores.recent, bundle.omitted) // [ 1 ] 0
