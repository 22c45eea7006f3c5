import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { type Goal, runLoop } from '@recall/core/protocol'

const memory = createMemoryManager({ stores: createInMemoryStore() })

const run = (goal: Goal) =>
  runLoop(memory, goal, {
    perceive: ({ context }) => context.similarEpisodes.length > 0,
    reason: ({ perception: hasDoneIt, patterns }) => (hasDoneIt ? patterns.map(({ value }) => value) : []),
    act: ({ decision: known }) => (known.length > 0 ? 1 : 3),
    observe: ({ execution: attempts }) => ({ attempts }),
    reflect: ({ working }) => ({
      outcome: 'success',
      lessons: [{ category: 'shop', text: 'The price list of the shop is behind the menu' }],
      toolsUsed: ['browser'],
      iterations: working.observation.attempts,
    }),
  })

const goal = { description: 'find the price list of the shop' }
console.log((await run(goal)).reflection.iterations) // 3
console.log((await run(goal)).reflection.iterations) // 1
