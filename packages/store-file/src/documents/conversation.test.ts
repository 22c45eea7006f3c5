import type { ConversationArchive } from '@recall/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseConversation, printConversation } from './conversation.ts'

const archive: ConversationArchive = {
  log: 7,
  date: '2026-11-18T10:00:05.234Z',
  sessionId: 's1',
  messageCount: 2,
  duration: '3m',
  source: 'session',
  topics: ['pool'],
  body: '## Summary\n\nThe pool leaks.\n',
}

it('keeps what a session is called, whatever that is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (title) => {
      const named = { ...archive, title }
      const { value, fields } = parseConversation(printConversation(named, 7), 7, 'conversation-007', {
        modified: 0,
      })
      expect(value).toEqual(named)
      expect(fields).toMatchObject({ title })
    }),
  )
})

it('has no name for a session that was given none', () => {
  const { value } = parseConversation(printConversation(archive, 7), 7, 'conversation-007', { modified: 0 })
  expect(value).toEqual(archive)
})
