import { createInMemoryStore, createMemoryManager } from '@recall/core'

const memory = createMemoryManager({ stores: createInMemoryStore() })

await memory.batchWrite('long-term', [
  {
    key: 'playbook:login',
    value: { type: 'playbook', text: 'Web scraping behind an authentication page', successRate: 0.9 },
    options: { tags: ['pattern', 'error'], embedding: [1, 0] },
  },
  {
    key: 'note',
    value: { type: 'knowledge', text: 'Error handling in web forms', successRate: 0.5 },
    options: { tags: ['pattern', 'error'], embedding: [0, 1] },
  },
])

const playbooks = await memory.search(
  'long-term',
  { text: 'web scraping authentication', filters: { type: 'playbook' } },
  { limit: 5, sortBy: 'relevance' },
)
console.log(playbooks.map(({ key }) => key)) // [ 'playbook:login' ]

const near = await memory.search('long-term', { embedding: [0.9, 0.1] }, { limit: 1 })
console.log(near[0]?.key, near[0]?.mode) // playbook:login semantic

const tagged = await memory.search(
  'long-term',
  { tags: ['pattern'] },
  { sortBy: 'recency', sortOrder: 'desc' },
)
console.log(tagged.length) // 2

const combined = await memory.search('long-term', {
  text: 'error handling',
  tags: ['pattern', 'error'],
  filters: { successRate: { gte: 0.4 }, type: { ne: 'playbook' } },
})
console.log(combined.map(({ key }) => key)) // [ 'note' ]
