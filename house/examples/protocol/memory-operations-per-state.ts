import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { observeMemory, runLoop } from '@recall/core/protocol'

const writes: string[] = []
const memory = observeMemory(
  createMemoryManager({ stores: createInMemoryStore() }),
  ({ name, scope, key }) => {
    if (name === 'write' && scope === 'working') writes.push(key ?? '')
  },
)

await runLoop(
  memory,
  { description: 'rest' },
  {
    perceive: () => 'tired',
    reason: () => 'sleep',
    act: () => 'slept',
    observe: () => 'awake',
    reflect: () => ({ outcome: 'success', lessons: [] }),
  },
)
console.log(writes.join(' ')) // loopId goal perception decision execution observation reflection
