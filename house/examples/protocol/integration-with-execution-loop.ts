import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { runLoop } from '@recall/core/protocol'

const memory = createMemoryManager({ stores: createInMemoryStore() })

const { reflection } = await runLoop(
  memory,
  { description: 'add two and two' },
  {
    perceive: () => [2, 2],
    reason: ({ perception }) => ({ sum: perception }),
    act: ({ decision }) => decision.sum.reduce((a, b) => a + b, 0),
    observe: ({ execution }) => execution === 4,
    reflect: ({ working }) => ({ outcome: working.observation ? 'success' : 'failure', lessons: [] }),
  },
)
console.log(reflection.outcome) // success
