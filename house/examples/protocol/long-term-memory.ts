import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { recordOutcome } from '@recall/core/protocol'

const memory = createMemoryManager({ stores: createInMemoryStore() })

const playbook = { type: 'playbook', name: 'Web scraping', steps: ['log in', 'fetch', 'parse'] }
await memory.write('long-term', 'playbook:web-scraping', playbook, { tags: ['web', 'scraping'] })
await recordOutcome(memory, 'playbook:web-scraping', 'success')
await recordOutcome(memory, 'playbook:web-scraping', 'partial')

const [match] = await memory.search('long-term', {
  text: 'scraping',
  filters: { type: 'playbook', successRate: { gte: 0.7 } },
})
console.log(match?.metadata.successRate, match?.metadata.tags) // 0.75 [ 'web', 'scraping' ]
