import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { createPatternMatcher } from '@recall/core/protocol'

const memory = createMemoryManager({ stores: createInMemoryStore() })

await memory.write(
  'long-term',
  'pattern:retry',
  { text: 'Wait and try again', preconditions: [{ status: 429 }, { status: 503 }] },
  { tags: ['http', 'error'] },
)

const [pattern] = await createPatternMatcher(memory).findMatchingPatterns({
  tags: ['http'],
  preconditions: { status: { $gte: 500 } },
})
console.log(pattern?.key, pattern?.score, pattern?.matchedBy) // pattern:retry 1 { tags: 1, preconditions: 1 }
