import { createInMemoryStore, createMemoryManager, fenceRecalled } from '@recall/core'
import { archiveSession, consumeWindow } from '@recall/sessions'

const memory = createMemoryManager({ stores: createInMemoryStore() })

// When a session ends:
await archiveSession(memory, {
  sessionId: 'abc123',
  messages: [{ id: 'm1', role: 'user', content: [{ type: 'text', text: 'Fix the login' }] }],
  facts: { skipped: {} },
})

// When the next one begins:
const { text } = await consumeWindow(memory, { clear: true })
const context = fenceRecalled(text, 'session window')
