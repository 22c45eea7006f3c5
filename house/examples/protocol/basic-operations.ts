import { createInMemoryStore, createMemoryManager } from '@recall/core'

const memory = createMemoryManager({ stores: createInMemoryStore() })

await memory.write('working', 'currentGoal', { description: 'scrape the price list' })
await memory.write(
  'short-term',
  'userPreference',
  { theme: 'dark' },
  { ttl: 3600_000, tags: ['preferences', 'ui'] },
)
await memory.write(
  'long-term',
  'playbook:web-scraping',
  { type: 'playbook', steps: ['fetch', 'parse'] },
  { index: true, tags: ['playbook', 'web', 'scraping'], overwrite: true },
)
await memory.write(
  'episodic',
  'episode:7',
  { outcome: 'success' },
  { index: true, tags: ['execution', 'success'] },
)

const goal = await memory.read<{ description: string }>('working', 'currentGoal')
const preference = await memory.read<{ theme: string }>('short-term', 'userPreference')
console.log(goal?.description, preference?.theme) // scrape the price list dark
console.log(await memory.exists('long-term', 'playbook:web-scraping')) // true
await memory.delete('short-term', 'tempData')
