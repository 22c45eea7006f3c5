import { createInMemoryStore, createMemoryManager, isMemoryError } from '@recall/core'
import * as z from 'zod'

const memory = createMemoryManager({
  stores: createInMemoryStore(),
  schemas: { 'long-term': { rule: z.object({ text: z.string(), weight: z.number() }) } },
})

await memory.write('long-term', 'rule', { text: 'Run migrations before deploying the API', weight: 3 })

// Words and conditions must both hold; "deploy" finds "deploying".
const [rule] = await memory.search<{ text: string }>('long-term', {
  text: 'deploy migration',
  filters: { weight: { $gte: 2 } },
})
console.log(rule?.value.text)

try {
  await memory.write('long-term', 'rule', { text: 'no weight' } as never)
} catch (error) {
  if (isMemoryError(error)) console.log(error.code)
}
