import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { createCleanupScheduler } from '@recall/core/protocol'

const memory = createMemoryManager({ stores: createInMemoryStore() })

const scheduler = createCleanupScheduler(memory, {
  onTurn: ({ task, outcome }) => console.log(task, outcome),
})
scheduler.start()
await scheduler.run('expire') // expire done
await scheduler.run('expire') // expire skipped
await scheduler.stop()
